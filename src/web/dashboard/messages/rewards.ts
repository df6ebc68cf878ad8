// Text of the delivery log. The text of a reward's story and of replays is shared with the console.

import { durationText } from "../../shared/format";

import { plural } from "../../shared/messages/plural";

export const rewards = {
  title: "Rewards",
  tableName: "Rewards",
  toLog: "All rewards",
  intro: "The newest 10,000 rewards and the state of their callbacks, newest first.",
  live: "Live",
  paused: "Paused",
  pause: "Pause",
  goOn: "Resume",
  pausedTooLong: "Paused while older rewards are open",
  restart: "Show the newest",
  behind: (ms: number) => `Behind by ${durationText(ms)}`,
  stopped: "The list is not being updated.",
  app: "App",
  allApps: "All apps",
  allButTests: "All but test apps",
  badStatus: "Enter a status from 100 to 599.",
  more: "More filters",
  search: "Search",
  offer: "Offer",
  amount: "Value",
  emptyTitle: "No rewards yet",
  empty: "A reward appears here within seconds of its conversion.",
  none: "None of the newest 10,000 rewards matches these filters.",
  noneOld: "None of the newest 10,000 rewards has this transaction ID. Choose an app to open an older one.",
  findOld: "Open the older reward",
  end: "All matches among the newest 10,000 rewards are shown.",
};

/** One user over all apps. */
export const userData = {
  title: "A user's data",
  text: "Everything stored about one user in all your apps: download it, or erase it.",
  user: "User ID",
  hint: "As your apps send it with clicks.",
  download: "Download",
  downloading: "Collecting…",
  downloaded: (rewards: number) => `The file has ${plural(rewards, "reward", "rewards")}.`,
  none: (user: string) => `Nothing is stored about ${user}.`,
  fileName: (user: string) => `user-${user}.json`,
  erase: "Erase",
  eraseTitle: (user: string) => `Erase ${user}?`,
  eraseText: [
    "The user's ID, device IDs and custom values are cleared from the rewards of all your apps. Amounts stay.",
    "Data that a waiting callback needs is cleared once the callback has ended.",
    "This cannot be undone. Download the data first if you need a copy.",
  ],
  eraseIt: "Erase the user",
  erasedTitle: (user: string, waiting: number) => `${user} ${waiting > 0 ? "is being" : "was"} erased`,
  nothingTitle: (user: string) => `Nothing was stored about ${user}`,
  erased: (rewards: number) => `${plural(rewards, "reward was", "rewards were")} cleared.`,
  waiting: (rewards: number) =>
    `${plural(rewards, "reward is cleared once its callback has", "rewards are cleared once their callbacks have")} ended.`,
  apps: (apps: number) => `${plural(apps, "app was", "apps were")} searched.`,
};
