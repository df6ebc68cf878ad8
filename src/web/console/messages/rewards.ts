// Text of the rewards: the list, one reward, and the dialogs that settle rewards.

import { count, exactTimeText, money } from "../../shared/format";
import { plural } from "../../shared/messages/plural";
import { codeText } from "../../shared/messages/rewards";

export const rewards = {
  title: "Rewards",
  note: "Conversions of an app and their state, newest first.",
  tableName: "Rewards",
  app: "App",
  appHint: "App-Id or the start of a name",
  badApp: "An App-Id has 8 digits.",
  unknownApp: "There is no app with this App-Id.",
  show: "Show",
  chooseTitle: "Choose an app",
  choose: "Rewards are listed app by app. To find one by its ID, paste it into the search above.",
  reason: "Reason",
  reasonHint: "A code such as too_fast, or the full text of a reason",
  offer: "Offer and goal",
  value: "Value",
  ifApproved: "if approved",
  inWords: (reason: string) => (reason === "expired" ? "It stayed undecided for 400 days." : reason),
  none: "This app has no reward that matches these filters.",
  empty: "This app has no reward yet.",
  looking: "Looking further back…",
  end: "All matches are shown.",
  back: "Rewards of this app",
  replayIgnores: "The reason filter does not apply here.",
};

const NAMES = { approve: "Approve", reject: "Reject", reverse: "Reverse" };
/** The last segment of the three paths that settle rewards. */
export type Settling = keyof typeof NAMES;
const DONE: Record<Settling, string> = { approve: "approved", reject: "rejected", reverse: "reversed" };

/** Codes of refusals, in addition to the codes of conversions. */
const REFUSALS: Record<string, string> = {
  wrong_state: "Their state no longer allows it: somebody else changed it first.",
  user_erased: "Their user was erased, so the publisher could not be told.",
};

export const settle = {
  names: NAMES,
  titles: {
    approve: "Approve this reward?",
    reject: "Reject this conversion?",
    reverse: "Reverse this reward?",
  } satisfies Record<Settling, string>,
  texts: {
    approve: "The user is paid, the publisher is told by a callback, and the advertiser owes the payout.",
    reject: "This is final: nobody is paid, and it cannot be approved later.",
    reverse: "The publisher is told to take the reward back, and the payout is deducted from its revenue.",
  } satisfies Record<Settling, string>,
  done: {
    approve: "It is approved.",
    reject: "It is rejected.",
    reverse: "It is reversed.",
  } satisfies Record<Settling, string>,
  reason: "Reason",
  reasonHint: "At most 200 characters. The log keeps it, and the publisher gets it with the callback.",
  against: (code: string) => `There is another reason not to approve it: ${codeText(code)}`,
  despite: (code: string) => `Approve despite this: ${codeText(code)}`,
  despiteNames: "Approve despite",
  many: "Approve or reject all that match",
  manyTitle: (app: string) => `Approve or reject all that match, ${app}`,
  manyReason: "Choose a reason, too. An approval pays the rewards that were refused for that reason.",
  manyHint:
    "Choose a state first. Held and pending rewards can be approved or rejected. Refused ones can only be approved, and approved ones only reversed.",
  manyNone: "Rejected and reversed rewards cannot be changed.",
  action: "What to do",
  actionHints: {
    approve: "pays each user and tells the publisher",
    reject: "is final; nobody is paid",
    reverse: "tells the publisher to take each reward back",
  } satisfies Record<Settling, string>,
  manyTexts: {
    approve: "Each user is paid, the publisher is told by callbacks, and the advertisers owe the payouts.",
    reject: "This is final: nobody is paid, and none can be approved later.",
    reverse: "The publisher is told to take each reward back, and the payouts are deducted from its revenue.",
  } satisfies Record<Settling, string>,
  which: (parts: string[]) => `Applies to all rewards that are ${parts.join(", ")}.`,
  ofUser: (user: string) => `of user ${user}`,
  withReason: (reason: string) => `with the reason “${reason}”`,
  unusedDelivery: "The callback filter does not apply here.",
  matches: (number: number, payout: number, until: number) =>
    `${plural(number, "reward matches", "rewards match")}, ${money(payout)} in all, up to ${exactTimeText(until)}.`,
  nothing: "Nothing matches.",
  start: (action: Settling, number: number, payout: number) =>
    `${NAMES[action]} ${plural(number, "reward", "rewards")}, ${money(payout)}`,
  running: (done: number, all: number) =>
    done > 0
      ? `${count(done)} of ${count(all)} so far. If you close this, the rest is not changed.`
      : "This can take a minute…",
  resultTitle: (action: Settling, settled: number, payout: number) =>
    `${plural(settled, "reward was", "rewards were")} ${DONE[action]}, ${money(payout)} in all`,
  already: (number: number) => `${plural(number, "was", "were")} in this state already.`,
  refusedTitle: (number: number) => `${plural(number, "was", "were")} not changed:`,
  refusedOf: (code: string, number: number) => `${count(number)}: ${REFUSALS[code] ?? codeText(code)}`,
  again: (number: number) => `Approve ${count(number)} despite this`,
  refusal: (code: string) => REFUSALS[code] ?? null,
};

/** Text for the rewards that are ticked in Attention. */
export const decide = {
  all: (all: number) => (all === 1 ? "Select it" : `Select all ${count(all)} shown`),
  ticked: (ticked: number, payout: number) => `${plural(ticked, "reward", "rewards")}, ${money(payout)} in all`,
  title: (action: Settling, rewards: number) => `${NAMES[action]} ${plural(rewards, "reward", "rewards")}?`,
  text: (rewards: number, apps: number, payout: number) =>
    `${plural(rewards, "reward", "rewards")} of ${plural(apps, "app", "apps")}, ${money(payout)} in all.`,
};

export const erase = {
  button: "Erase this user",
  title: "Erase this user?",
  text: "The user's ID, device IDs and custom values are cleared from every reward of this app. Amounts stay. This cannot be undone. Afterwards, rewards of this user cannot be approved, rejected, reversed or sent again.",
  what: "user ID",
  done: (erased: number, waiting: number) =>
    `${plural(erased, "reward was", "rewards were")} cleared.${waiting > 0 ? ` ${plural(waiting, "follows", "follow")} once the callback is done.` : ""}`,
};
