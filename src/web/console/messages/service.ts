// Text of the service's state.

import { count, durationText, exactTimeText, timeText } from "../../shared/format";
import { plural } from "../../shared/messages/plural";

export const service = {
  title: "Service",
  note: "Publication, delivery, limits, and the totals of an app's day.",
  publication: {
    title: "Publication",
    note: "Changes to apps and offers reach clicks and lists with the next publication.",
    down: "The catalog does not answer. Clicks and lists continue with the last publication.",
    tracking: "Built for clicks",
    listing: "Built for offer lists",
    never: "Never",
    at: (ms: number, now: number) => `${exactTimeText(ms / 1000)}, ${durationText(Math.max(0, now - ms))} ago`,
    waiting: "Changes waiting",
    noneWaiting: "None",
    waitingFor: (ms: number) => `for ${durationText(ms)}`,
    oldSeals: "Secrets under old keys",
    noOldSeals: "None",
    stillOld: (secrets: number) => `${secrets}, being sealed again`,
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
    publishText:
      "Clicks and offer lists take every saved change to apps and offers at once instead of within a minute.",
    published: "Everything is published.",
  },
  open: {
    all: "Open in Attention",
    more: "There are more. Attention lists all of them.",
  },
  endpoints: {
    title: "Callbacks that fail or are switched off",
    app: "App",
    state: "State",
    since: "Since",
    reason: "Why",
    none: "No app has reported a callback that fails.",
  },
  asking: {
    button: "Ask every app now",
    note: "Asks each app with a callback. An app that does not answer reports nothing, and its postbacks are answered 503.",
    running: (apps: number) => `${plural(apps, "app was", "apps were")} asked so far…`,
    result: (apps: number, silent: number) =>
      silent === 0
        ? `${plural(apps, "app with a callback answers", "apps with a callback answer")}.`
        : `${count(silent)} of ${plural(apps, "app with a callback does", "apps with a callback do")} not answer:`,
  },
  pools: {
    title: "Requests refused under overload",
    note: "Each kind of work has a limit on how many requests run at the same time. Requests beyond it are refused at once, so that the others stay fast.",
    ofAll:
      "“Refused” is the sum over all instances, each since its start. “In use” is the number on the instance that answered.",
    ofOne:
      "Counts of other instances are not available right now. These are the counts of the instance that answered, since its start.",
    name: "Work",
    names: {
      click: "Clicks that wait",
      conversion: "Postbacks",
      form: "Postbacks sent as forms",
      report: "Reports",
      query: "Report queries",
      page: "Pages of offers",
      body: "Bodies of offer requests",
      start: "First loads of the catalog",
      shard: "Requests waiting for a part of the catalog",
      operator: "Operator’s calls",
      dashboard: "Dashboard",
      console: "Console",
      member_body: "Bodies of members’ requests",
      sign_in: "Sign-ins",
      listing: "Offer lists",
      document: "Documents",
      test_page: "Test page",
      upload: "Uploads",
    } as Record<string, string>,
    inUse: "In use",
    refused: "Refused",
    of: (inUse: number, permits: number) => `${count(inUse)} of ${count(permits)}`,
    none: "Nothing was refused.",
    some: (number: number) => `${plural(number, "request was", "requests were")} refused.`,
  },
  reported: {
    down: "Not known right now: the part of Signpost that stores this does not answer.",
    by: (instances: number, at: number) =>
      `${plural(instances, "instance", "instances")}, last at ${timeText(at / 1000)}`,
  },
  instances: {
    title: "Instances of edge and origin",
    note: "Problems of each instance since it started.",
    none: "Nothing was reported in the last 24 hours.",
    age: (seconds: number) => durationText(seconds * 1000),
    names: {
      postbacks: "Postbacks answered 503",
      unhealthy: "Failed health checks",
      clicks_uncounted: "Clicks not counted",
      snapshot_age_s: "Oldest offers in use",
      panics: "Faults in the code",
      memory_bytes: "Largest memory",
    },
    kinds: {
      unavailable:
        "An app did not answer, or too much came at once. Senders repeat them. “Ask every app now” below names the app.",
      unread: "They came before their app was known: a flood of forms, or click IDs of a key that is not deployed.",
    } as Record<string, string>,
    hints: {
      postbacks: "",
      unhealthy: "",
      clicks_uncounted: "The users were redirected. Reports lack these clicks.",
      snapshot_age_s:
        "The instance does not hear of new publications from KV. After 24 hours it refuses lists and postbacks.",
      panics: "Each cost one request or task. The log has the details under “fault”; tell the developers.",
      memory_bytes: "An instance that exceeds it is ended, with everything under way in it.",
    },
    // As the platform counts: 1 MB is 2^20 bytes.
    of128: (bytes: number) => `${count(bytes / 1_048_576)} of 128 MB`,
  },
  unsent: {
    title: "Not in the reports yet",
    none: "Totals of clicks and revenue reach the reports within about 10 seconds. None has waited for longer than two minutes.",
  },
  rewards: {
    title: "Rewards from old clicks and old terms",
    note: (day: string) =>
      `Rewards on ${day}, UTC. A click is paid under the terms in force when it was made, so users or a publisher may save up clicks before a payout drops. If an app’s shares stand out, pay older clicks under the current terms, with the button under the terms of the offer or the app.`,
    app: "App",
    rewards: "Rewards",
    late: "After 24 hours",
    old: "Under earlier terms",
  },
  limits: {
    title: "Near a limit",
    none: "No object is near its limit.",
    object: "Object",
    used: "Used",
    since: "Since",
  },
  caps: {
    title: "Caps nearly used up",
    note: (at: string) => `Counted at ${at}. Caps start again at 00:00 UTC.`,
    none: "No cap has reached 80%.",
    offer: "Offer",
    kind: "Cap",
    kinds: { click: "Clicks", conversion: "Conversions" },
    used: "Used",
    of: (used: number, limit: number) => `${count(used)} of ${count(limit)}`,
  },
};
