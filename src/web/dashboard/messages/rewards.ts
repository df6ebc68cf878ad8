// Text of the delivery log. That of a reward's story and of replays is shared with the console.

import { durationText } from "../../shared/format";
import { plural } from "../../shared/messages/plural";
import { STATE_NAMES } from "../../shared/messages/rewards";
import type { RewardState } from "../types";

export const rewards = {
  title: "Rewards",
  tableName: "Delivery log",
  toLog: "Delivery log",
  intro: "The newest 10,000 rewards and what became of their callbacks, newest first.",
  live: "Live",
  paused: "Paused",
  pause: "Pause",
  goOn: "Go on",
  pausedTooLong: "Paused while older rewards are open",
  restart: "Show the newest",
  behind: (ms: number) => `Behind by ${durationText(ms)}`,
  stopped: "The log is not updated at present.",
  app: "App",
  allApps: "All apps",
  state: "State",
  allStates: "Any state",
  delivery: "Callback",
  allDeliveries: "Any",
  status: "HTTP status",
  badStatus: "Enter a status from 100 to 599.",
  from: "From (UTC)",
  to: "To (UTC)",
  badDates: "The last date is before the first.",
  transaction: "Transaction id",
  user: "User id",
  userNeedsApp: "Choose an app first.",
  more: "More filters",
  search: "Search",
  clear: "Clear the filters",
  reward: "Reward",
  time: "Conversion",
  offer: "Offer",
  amount: "Value",
  noUser: "erased",
  emptyTitle: "No rewards yet",
  empty: "A reward appears here within seconds of its conversion.",
  noneTitle: "Nothing matches",
  none: "None of the newest 10,000 rewards matches these filters.",
  noneOld: "None of the newest 10,000 rewards has this transaction id. With an app chosen you can open an older one.",
  findOld: "Open the older reward",
  older: "Show older rewards",
  end: "These are all of the newest 10,000 rewards that match.",
  tries: (number: number) => plural(number, "try", "tries"),
};

/** Conditions of the log in words. */
export function conditions(of: { state: RewardState | ""; status: string; transaction: string; user: string }): string {
  const all = [
    of.state && `${rewards.state} ${STATE_NAMES[of.state]}`,
    of.status && `${rewards.status} ${of.status}`,
    of.transaction && `${rewards.transaction} ${of.transaction}`,
    of.user && `${rewards.user} ${of.user}`,
  ];
  return all.filter(Boolean).join(", ");
}
