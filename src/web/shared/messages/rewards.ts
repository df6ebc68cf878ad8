// Text of a reward's story and of replays.

import { RECEIVER, REVIEWER } from "#site";
import { sentence } from "../error-text";
import { count, exactTimeText } from "../format";
import type { OwnCallbackEvent, RewardDelivery, RewardKind, RewardState } from "../types";
import { STATE_NAMES } from "./names";
import { plural } from "./plural";

export { DELIVERY_NAMES, STATE_NAMES } from "./names";

export const STATE_HINTS: Record<RewardState, string> = {
  approved: "The user has earned it.",
  pending: "It waits for the advertiser. Nothing is paid yet.",
  held: `It waits for a check by ${REVIEWER}. Nothing is paid yet.`,
  rejected: "It was not paid.",
  reversed: `It was taken back, by the advertiser or by ${REVIEWER}.`,
  refused: "Our rules did not allow it. It was not paid.",
};

export const DELIVERY_HINTS: Record<RewardDelivery, string> = {
  waiting: "Signpost sends it, and repeats it if needed, unless callbacks are switched off.",
  delivered: sentence(`${RECEIVER} answered 2xx`),
  dead: "Signpost no longer tries to send it. It is sent again only on request.",
  not_wanted: "The app's callback is not set up for this event.",
  no_endpoint: "The app has no callback. It is sent once there is one.",
};

export const KIND_NAMES: Record<RewardKind, string> = { reward: "Reward", reversal: "Reversal", notice: "Notice" };

/** Why a conversion is held or was refused. A code that is new to this page is shown by its own name. */
const CODES: Record<string, string> = {
  conversion_window_closed: "The conversion came too long after the click.",
  duplicate_txn: "The advertiser had sent this conversion before.",
  already_rewarded: "The user had the reward for this goal already.",
  after_restore: "It may have been paid before data was restored. It is decided within 72 hours.",
  suspended: "The publisher is suspended. It is decided when the suspension ends.",
  too_fast: "The conversion came sooner after the click than a person could manage.",
  too_many_today: "The user has as many rewards today as the app allows.",
  conversion_capped: "The offer had reached its conversion cap for the day.",
};

export const codeText = (code: string) => CODES[code] ?? code;

/** True if the code is a reason to hold or refuse a conversion, and not another error. */
export const isReasonCode = (code: string) => code in CODES;

export const EVENT_NAMES: Record<OwnCallbackEvent, string> = STATE_NAMES;

// A revision is a small number, or the time since which the terms are in force.
export const revisionText = (number: number) =>
  number < 1_000_000_000 ? `revision ${number}` : `terms of ${exactTimeText(number)}`;

export const story = {
  title: (state: RewardState) => `Reward, ${STATE_NAMES[state].toLowerCase()}`,
  loading: "Reward",
  notFound: "This app has no reward with this transaction ID.",
  summary: "Reward",
  state: "State",
  why: "Why",
  inWords: "In words",
  value: "Value",
  payout: "Payout",
  user: "User",
  erased: "erased",
  userLog: "All rewards of this user",
  offer: "Offer",
  goal: "Goal",
  goalValue: "Goal value",
  txn: "Advertiser's ID",
  transaction: "Transaction ID",
  click: "Click",
  clicked: "Time",
  country: "Country",
  placement: "Placement",
  terms: "Terms",
  termsOf: (offer: number, app: number) => `Offer ${revisionText(offer)}, app ${revisionText(app)}, as of the click`,
  paidBy: (paying: number, isSuperseded: boolean) =>
    `Paid under offer ${revisionText(paying)}${isSuperseded ? ", already replaced by newer terms" : ""}`,
  happened: "What happened",
  steps: {
    click: "The user clicked the offer.",
    received: "The advertiser first reported the conversion.",
    states: {
      approved: "It was approved.",
      pending: "It was set to pending.",
      held: "It was held for review.",
      rejected: "It was rejected.",
      reversed: "It was reversed.",
      refused: "It was refused.",
    } satisfies Record<RewardState, string>,
    tried: (event: string, status: number | null) =>
      `The callback “${event}” was sent: ${status === null ? "no answer" : `HTTP ${status}`}.`,
    next: (event: string) => `The callback “${event}” will be sent again.`,
  },
  callback: (event: string) => `Callback: ${event}`,
  noCallbacks: "This reward has no callback.",
  nextTry: (at: number) => `Next try: ${exactTimeText(at)}`,
  sent: "What is sent",
  sentHint: "Each try has the same values, with a new time and signature.",
  tries: "Tries",
  newestTries: (shown: number, all: number) => `The newest ${shown} of ${all} tries.`,
  noTries: (delivery: RewardDelivery) =>
    ({
      waiting: "It has not been sent yet.",
      no_endpoint: "It has not been sent yet.",
      not_wanted: "It is not sent.",
      delivered: "Its tries are no longer stored.",
      dead: "Its tries are no longer stored.",
    })[delivery],
  tryAt: "Time",
  took: "Duration",
  ms: (ms: number) => `${count(ms)} ms`,
  answer: "Answer",
  noAnswer: "No answer",
  emptyAnswer: "(empty)",
};

/** The filter of a list of rewards. */
export const filter = {
  state: "State",
  anyState: "Any state",
  delivery: "Callback",
  anyDelivery: "Any",
  status: "HTTP status",
  transaction: "Transaction ID",
  user: "User ID",
  clear: "Clear the filters",
};

/** Columns and pages of a list of rewards. */
export const list = {
  reward: "Reward",
  time: "Conversion",
  erased: "erased",
  older: "Show older rewards",
  noneTitle: "Nothing matches",
  tries: (status: number | null | undefined, tries: number | null | undefined) =>
    [status && `HTTP ${status}`, tries && plural(tries, "try", "tries")].filter(Boolean).join(", "),
};

export const replay = {
  one: "Send it again",
  oneTitle: "Send this callback again?",
  oneText: sentence(
    `${RECEIVER} gets the same transaction ID and values, with a new time and signature. It should pay each transaction ID only once`,
  ),
  oneSent: "It is queued to be sent again.",
  many: "Send callbacks again",
  manyHint: "Choose one app to send its callbacks again.",
  title: (app: string) => `Send callbacks of ${app} again`,
  which: "Which ones",
  all: "All",
  whichHints: {
    "": "in any state, delivered ones too",
    dead: "no longer tried automatically",
    waiting: `sent as soon as ${RECEIVER} takes calls, not at their next try`,
    delivered: `${RECEIVER} answered 2xx, and gets them once more`,
    not_wanted: "sent if the app’s callback now asks for their events",
    no_endpoint: "sent once the app has a callback",
  } satisfies Record<RewardDelivery | "", string>,
  mayPayTwice: sentence(
    `Send delivered callbacks, too. If ${RECEIVER} does not recognize a repeated transaction ID, users are paid twice`,
  ),
  period: "Conversions (UTC)",
  only: (conditions: string) => `Only those that match the list’s filters: ${conditions}.`,
  progress: "Callbacks queued",
  counting: "Counting…",
  nothing: "No matching callback can be sent again.",
  text: (number: number, until: number) =>
    `${plural(number, "callback matches", "callbacks match")}, up to ${exactTimeText(until)}. Each is sent with the same transaction ID and values: ${RECEIVER} should pay each transaction ID only once.`,
  start: (number: number) => `Send ${plural(number, "callback", "callbacks")} again`,
  running: (replayed: number, all: number) =>
    `Queueing callbacks to be sent again: ${count(replayed)} of ${count(all)}.`,
  done: (replayed: number) => `${plural(replayed, "callback was", "callbacks were")} queued to be sent again.`,
  cancelled: (replayed: number) =>
    `Stopped. ${plural(replayed, "callback was", "callbacks were")} queued to be sent again.`,
  tooManyForSupport:
    "Support can send at most 100 callbacks again at a time, and the reversals that follow them. Choose fewer, or ask an admin.",
  tooLong: "There are too many to count at once. Choose fewer days.",
  alreadyRunning: "Callbacks of this app are already being sent again. Wait until that ends.",
  cancel: "Stop",
  nothingToSend: "There is nothing to send: the reward was not paid, so it has no callback.",
  erased: "Its user was erased, so it cannot be sent again.",
};
