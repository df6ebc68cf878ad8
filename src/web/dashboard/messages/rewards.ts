// Text of the delivery log. That of a reward's story and of replays is shared with the console.

import { durationText } from "../../shared/format";

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
  badStatus: "Enter a status from 100 to 599.",
  from: "From (UTC)",
  to: "To (UTC)",
  userNeedsApp: "Choose an app first.",
  more: "More filters",
  search: "Search",
  offer: "Offer",
  amount: "Value",
  emptyTitle: "No rewards yet",
  empty: "A reward appears here within seconds of its conversion.",
  none: "None of the newest 10,000 rewards matches these filters.",
  noneOld: "None of the newest 10,000 rewards has this transaction id. With an app chosen you can open an older one.",
  findOld: "Open the older reward",
  end: "These are all of the newest 10,000 rewards that match.",
};
