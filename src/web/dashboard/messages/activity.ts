// Text of the overview's rewards, callback health and go-live checklist.

import { count, durationText, timeText } from "../../shared/format";
import type { EndpointHealth, Firsts } from "../types";
import { plural } from "../../shared/messages/plural";

export const activity = {
  tiles: {
    approved: "Rewards approved",
    pending: "Rewards pending",
    reversed: "Rewards reversed",
    pendingNote: "not paid yet",
    nowNote: "last 30 days and today",
  },
  behind: (ms: number) => `Rewards are behind by ${durationText(ms)}. Newer ones may be missing.`,
  trouble: {
    title: "Needs attention",
    states: ({ state, waiting, dead }: EndpointHealth) =>
      [
        state === "disabled" && "your receiver told us to stop, so no callback is sent.",
        state === "failing" && "your receiver does not answer 2xx.",
        waiting > 0 && `${plural(waiting, "callback waits", "callbacks wait")}.`,
        dead > 0 && `${plural(dead, "callback was", "callbacks were")} given up, so users are not paid.`,
      ]
        .filter(Boolean)
        .join(" "),
    repair: "Fix it",
    see: "See them",
    more: (apps: number) => `${plural(apps, "more app is", "more apps are")} listed under Callback health.`,
    late: (date: string) => `Ad figures are late. They are complete through ${date}.`,
  },
  log: "Open in Rewards",
  health: {
    title: "Callback health",
    none: "No app has a reward yet.",
    seeDead: (app: string, dead: number) => `${count(dead)} given up, ${app}: open in Rewards`,
    enable: "Switch on again",
    enableOf: (app: string) => `Switch on again: ${app}`,
    sendAgain: "Send again",
    sendDeadAgain: (app: string) => `Send again: given up, ${app}`,
  },
  stateHints: {
    healthy: "",
    failing: "Your receiver does not answer 2xx. Each callback is repeated automatically until it is given up.",
    disabled: "Your receiver told us to stop, so rewards wait. Fix the receiver, then switch callbacks on again.",
    none: "Rewards wait until the app has a callback.",
  } satisfies Record<EndpointHealth["state"], string>,
  checklist: {
    title: "Go live",
    intro: "Each step is checked off when it first happens.",
    progress: (done: number, all: number) => `${count(done)} of ${plural(all, "step", "steps")} done`,
    tryIt: "Try it with a test app",
    developer: "Guide for app developers",
    analyst: "Guide for analysts",
    at: (at: number) => `first on ${timeText(at)}`,
    steps: {
      list: "Your app asked for offers",
      click: "A user opened an offer",
      conversion: "An advertiser confirmed a conversion",
      callback: "Your receiver answered a reward with 2xx",
      report: "A script read a report",
    } satisfies Record<keyof Firsts, string>,
    hints: {
      list: "Request the offer list with your Pub-Key and the App-Id.",
      click: "Open an offer's tracking URL on a device.",
      conversion: "Complete an offer as a user would. The advertiser then reports it.",
      callback: "Set up the app's callback and test your receiver.",
      report: "Create a report key and request a report.",
    } satisfies Record<keyof Firsts, string>,
    links: {
      list: "Pub-Key",
      click: "Apps",
      conversion: "Rewards",
      callback: "Apps",
      report: "Report keys",
    } satisfies Record<keyof Firsts, string>,
  },
};
