// Text of how the service is doing.

import { count, durationText, exactTimeText } from "../../pages/format";
import { plural } from "../../pages/messages/plural";

export const service = {
  title: "Service",
  note: "Publication, delivery, limits, and what an app's day adds up to.",
  publication: {
    title: "Publication",
    note: "Changes of apps and offers reach clicks and lists with the next publication.",
    down: "The catalog does not answer. Clicks and lists go on with what was published last.",
    tracking: "Built for clicks",
    listing: "Built for offer lists",
    never: "Never",
    at: (ms: number, now: number) => `${exactTimeText(ms / 1000)}, ${durationText(Math.max(0, now - ms))} ago`,
    waiting: "Changes waiting",
    noneWaiting: "None",
    waitingFor: (ms: number) => `for ${durationText(ms)}`,
    resources: "Stored",
    counts: (publishers: number, apps: number, advertisers: number, offers: number) =>
      [
        plural(publishers, "publisher", "publishers"),
        plural(apps, "app", "apps"),
        plural(advertisers, "advertiser", "advertisers"),
        plural(offers, "offer", "offers"),
      ].join(", "),
    size: "Size",
    publish: "Publish now",
    publishTitle: "Publish all changes now?",
    publishText: "Clicks and offer lists take every saved change of apps and offers at once instead of within a minute.",
    published: "Everything is published.",
  },
  endpoints: {
    title: "Callbacks that fail or are switched off",
    app: "App",
    state: "State",
    since: "Since",
    reason: "Why",
    all: "Open in Attention",
    well: "No app has reported a callback that fails.",
    more: "There are more. Attention lists all of them.",
  },
  asking: {
    button: "Ask every app now",
    note: "An app that does not answer reports nothing, and its postbacks are answered 503.",
    running: (apps: number) => `${plural(apps, "app was", "apps were")} asked so far…`,
    result: (apps: number, silent: number) =>
      silent === 0
        ? `${plural(apps, "app with a callback answers", "apps with a callback answer")}.`
        : `${count(silent)} of ${plural(apps, "app with a callback does", "apps with a callback do")} not answer:`,
  },
  pools: {
    title: "What is refused for want of room",
    note: "Each kind of work has room for so many at a time. What comes on top is refused at once, so that the rest stays fast. Counted by the one instance of the origin that answered, since it started. Clicks, lists and postbacks have rooms of their own, whose counts only the metrics have.",
    name: "Work",
    names: {
      operator: "Operator's calls",
      dashboard: "Dashboard and console",
      publisher: "Calls to one publisher",
      sign_in: "Sign-ins",
      listing: "Offer lists",
      document: "Documents",
      upload: "Uploads",
    } as Record<string, string>,
    inUse: "In use",
    refused: "Refused",
    of: (inUse: number, permits: number) => `${count(inUse)} of ${count(permits)}`,
    none: "Nothing was refused.",
    some: (number: number) => `${plural(number, "request was", "requests were")} refused.`,
  },
  limits: {
    title: "Near a limit",
    none: "No object is near its limit, and no sums were refused.",
    object: "Object",
    used: "Used, or why",
    since: "Since",
    all: "Open in Attention",
  },
  caps: {
    title: "Caps near their end",
    note: (at: string) => `Counted at ${at}. Caps start again at 00:00 UTC.`,
    none: "No cap is used up to 80 %.",
    offer: "Offer",
    kind: "Cap",
    kinds: { click: "Clicks", conversion: "Conversions" },
    used: "Used",
    of: (used: number, limit: number) => `${count(used)} of ${count(limit)}`,
  },
};
