// Text of the publishers: the list, and one with its people, keys and facts.

import { amount, count, dateText, durationText, shortDate, timeText } from "../../shared/format";
import { plural } from "../../shared/messages/plural";
import { settings } from "../../shared/messages/settings";
import type { DayList } from "../../shared/generated/openapi";
import type { CallbackState } from "../types";

export const publishers = {
  title: "Publishers",
  intro: "Companies whose apps show offers. Their apps work once the publisher is approved.",
  name: "Publisher",
  id: "ID",
  state: "State",
  apps: "Active apps",
  rewards: "Rewards",
  pending: (number: number) => `${count(number)} pending`,
  payout: "Payout",
  open: "To do",
  held: (number: number) => `${count(number)} held`,
  dead: (number: number) => `${plural(number, "callback", "callbacks")} given up`,
  disabled: (number: number) => `${plural(number, "callback", "callbacks")} switched off`,
  nothingOpen: "None",
  figuresNote:
    "The figures cover the last 30 days; active apps had a reward in that time. Attention also lists rewards held for longer.",
  figuresFailed: "The figures of the last 30 days could not be loaded.",
  noFigures: "The figures of this publisher could not be loaded.",
  approved: "Approved",
  notApproved: "Not approved",
  closed: "Closed",
  show: "Show",
  shows: { all: "All", waiting: "Not approved" },
  emptyTitle: "No publishers yet",
  empty: "Create the first one, then invite its owner.",
  noneWaitingTitle: "All publishers are approved",
  noneWaiting: "No publisher waits for approval.",
  create: "Create a publisher",
  createIt: "Create",
  createText: "Its people see the dashboard once you invite them. Its apps show offers once it is approved.",
  nameOf: "Name",
  nameHint: "Its people see this name.",
  idHint:
    "Letters, digits and hyphens, for example lumen-arcade. It appears in keys and links, and cannot be changed later.",
  badId: "Use letters, digits and hyphens only, at most 64.",
  isTaken: (id: string) => `A publisher with the ID ${id} already exists.`,
  approveAtOnce: "Approve it at once",
  approveHint: "otherwise it waits until you approve it",
  created: (name: string) => `${name} was created.`,
};

export const requests = {
  title: "Requests for a new Pub-Key",
  publisher: "Publisher",
  by: "Asked by",
  at: "Asked",
  reason: "Reason",
  action: "Issue",
  issue: "Issue a new key",
  issueFor: (name: string) => `Issue a new key: ${name}`,
  more: "These are the 100 oldest requests. Newer ones appear as these are closed.",
};

export const issue = {
  title: (name: string) => `Issue a new Pub-Key for ${name}?`,
  firstTitle: (name: string) => `Issue the Pub-Key of ${name}?`,
  text: "The current key stops working everywhere within two minutes. Apps that still send it get no offers. Agree on the time with the publisher first: its apps need an update.",
  firstText: "All its apps send this key with each request for offers.",
  closes: "The open request for a new key is closed.",
  issue: "Issue the key",
  madeTitle: "The new Pub-Key",
  made: "Its owners and developers also see it in their dashboard. If you send it, use a safe channel.",
  label: "Pub-Key",
};

export const publisher = {
  toList: "All publishers",
  nav: "Publisher",
  notFound: "There is no publisher with this ID.",
  sections: { overview: "Overview", people: "People", keys: "Keys", facts: "Facts", audit: "Audit log" },
  approve: "Approve",
  suspend: "Suspend",
  close: "Close publisher",
  edit: "Edit",
  stateText: {
    approved: "Its apps get offers, its clicks are redirected, and its people can sign in to the dashboard.",
    notApproved:
      "Its apps get no offers and its clicks are refused. If it was approved before, its rewards are held, its callbacks wait, and its people cannot sign in.",
    closed:
      "Closed for good. Its apps list no offers and take no clicks, and nobody can sign in. Its users are erased from the logs once their callbacks have ended.",
  },
  maxApps: (most: number) => `It may set up ${plural(most, "app", "apps")} by itself.`,
  approveTitle: (name: string) => `Approve ${name}?`,
  approveText: [
    "Its apps get offers and its clicks are redirected within two minutes.",
    "Its people can sign in to the dashboard, and set up apps there. Its report keys work again.",
    "Rewards that were held because it was suspended are checked again, and callbacks go out.",
    "If it was suspended, sessions that ended stay ended: people sign in again with their passkeys.",
  ],
  approvedNow: (name: string) => `${name} was approved.`,
  suspendTitle: (name: string) => `Suspend ${name}?`,
  suspendText: [
    "Its apps get no offers and its clicks are refused within two minutes.",
    "Its people are signed out at once, and nobody gets in until you approve it again. Passkeys and open invites stay.",
    "Conversions of earlier clicks are held, and callbacks wait, until you approve it again. You can still approve single rewards.",
    "Its report keys are refused until then, too.",
  ],
  suspended: (name: string) => `${name} was suspended.`,
  closeTitle: (name: string) => `Close ${name} for good?`,
  closeText: [
    "Its apps list no offers and take no clicks. Its keys and sessions end.",
    "Its users are erased from the logs once their callbacks have ended.",
    "Nobody can undo this, not even you. To stop it for a while, suspend it.",
  ],
  typedId: "publisher's ID",
  closed: (name: string) => `${name} was closed.`,
  editTitle: (name: string) => `Edit ${name}`,
  mostApps: "Apps it may set up by itself",
  mostAppsHint: "From 0 to 1,000. Leave it empty for 20. You can add more yourself.",
  save: "Save",
  saved: "Saved.",
};

export const figures = {
  title: "Rewards",
  note: "last 30 days and today",
  pendingNote: "not decided by the advertiser yet",
  held: "Held",
  heldNote: "wait for you to decide",
  rejectedNote: "by the advertiser or by you",
  refusedNote: "not paid under our rules",
  behind: (ms: number) => `These figures are behind by ${durationText(ms)}. Newer rewards may be missing.`,
};

export const endpoints = {
  title: "Callbacks that need attention",
  well: "Every callback of this publisher is answered.",
  none: "No app of this publisher has had a reward yet.",
  hints: {
    healthy: "",
    failing: "The receiver does not answer 2xx. Each callback is tried again until it is given up.",
    disabled: "The receiver told us to stop. Rewards wait until it is switched on again.",
    none: "Rewards wait until the app has a callback.",
  } satisfies Record<CallbackState, string>,
};

export const publisherApps = {
  title: "Apps",
  app: "App",
  appId: "App-Id",
  platform: "Platform",
  currency: "Currency",
  rate: (perUsd: number, name: string) => `${amount(perUsd)} ${name} for 1 USD`,
  callback: "Callback",
  noCallback: "None: rewards wait",
  emptyTitle: "No apps",
  empty: "Its owner sets up apps in the dashboard, once the publisher is approved.",
};

/** Added to the shared text about members. */
export const people = {
  title: "People",
  intro: "Who can sign in to this publisher's dashboard. Owners invite the others themselves.",
  invite: "Invite somebody",
  emptyTitle: "Nobody has joined yet",
  empty: "Invite an owner. They invite their colleagues.",
  inviteText: "Whoever has the link becomes a member with this name and role. It works once, for 7 days.",
  linkText: (until: number) => `${settings.members.linkText(until)} Send it to nobody else.`,
  recoverText:
    "Make sure that the request really comes from them. Their passkeys, sessions and open invites to others end at once. " +
    "All owners see a notice for 7 days.",
  withdrawRecoveryText: "The link stops working at once. This member cannot sign in until they get another link.",
};

export const audit = {
  title: "Audit log",
  intro: "Changes by this publisher's people, and by the operator to them, newest first.",
};

export const keys = {
  pubKeyTitle: "Pub-Key",
  pubKeyIntro: "All apps of this publisher send it with each request for offers.",
  adminsOnly: "Only admins can see the Pub-Key and issue a new one.",
  none: "No Pub-Key has been issued yet.",
  asked: (by: string, at: number) => `${by} asked for a new one on ${timeText(at)}.`,
  reason: (reason: string) => `Reason: ${reason}`,
};

export const reportKeys = {
  title: "Report keys",
  intro:
    "A report key lets a script read this publisher's reports or rewards, erase its users, or set up its test apps.",
  labelHint: "Where the key is used, for example “data warehouse”.",
  empty: "Owners and developers of the publisher make their own in the dashboard.",
  made: "It is shown only this once. Send it to the publisher through a safe channel.",
  revokeText: "Scripts of the publisher that use this key are refused from the next request on. This cannot be undone.",
};

export const facts = {
  title: "Facts",
  intro:
    "The figures behind reports, by UTC day: facts that were loaded, and Signpost's own counts of the offerwall. " +
    "A loaded day is final once its sources, the outboxes and click counters, have confirmed it, or seven days after its end.",
  date: "Day",
  state: "State",
  states: {
    not_loaded: "Not loaded",
    open: "Waiting for sources",
    final: "Final",
    final_unconfirmed: "Final, unconfirmed",
  } satisfies Record<DayList["days"][number]["state"], string>,
  loadedRows: "Loaded rows",
  loadedRequests: "Loaded requests",
  loadedImpressions: "Loaded impressions",
  loadedClicks: "Loaded clicks",
  loadedRevenue: "Loaded revenue",
  countedRows: "Counted rows",
  countedClicks: "Counted clicks",
  countedRevenue: "Counted revenue",
  /** Leaves out the year if it is the year of `date`, which is shown above. */
  loadedOn: (at: number, date: string) => {
    const loaded = new Date(at * 1000).toISOString().slice(0, 10);
    return `loaded ${loaded.slice(0, 4) === date.slice(0, 4) ? shortDate(loaded) : dateText(loaded)}`;
  },
  loadedBy: (name: string) => `by ${name}`,
  replace: (isLoaded: boolean) => (isLoaded ? "Replace" : "Load"),
  nothing: "Nothing to load",
  nothingOf: (date: string) => `Nothing to load: ${dateText(date)}`,
  nothingTitle: (date: string) => `Nothing to load for ${dateText(date)}?`,
  nothingText: [
    "The day counts as loaded, without facts, and becomes final like others. Signpost's own counts stay.",
    "If somebody else has loaded the day in the meantime, those facts are removed. You can still load a file later.",
  ],
  nothingDone: (date: string) => `${dateText(date)} has nothing to load.`,
  load: "Load a day",
  more: "Show earlier days",
  emptyTitle: "No facts yet",
  empty: "Days appear once facts are loaded, or once the publisher's apps have clicks.",
  dialogTitle: "Load a day's facts",
  dialogText: (date: string | null, rows: number) =>
    date === null
      ? "The file replaces everything that was loaded for its day. Signpost's own counts stay."
      : rows > 0
        ? `The file replaces the ${plural(rows, "row", "rows")} loaded for ${dateText(date)}. Signpost's own counts stay.`
        : `No rows are shown as loaded for ${dateText(date)}. Signpost's own counts stay.`,
  day: "Day, in UTC",
  drop: "Drop a CSV or NDJSON file here, or choose one.",
  choose: "Choose a file",
  dropHint: "At most 67 MB. A file with a header and no rows clears the day and marks it as having nothing to load.",
  file: (name: string, lines: number, bytes: string) => `${name}: ${plural(lines, "line", "lines")}, ${bytes}`,
  otherFile: "Choose another file",
  noFile: "Choose a file first.",
  tooLarge: "The file is larger than 67 MB.",
  notText: "The file is not text in UTF-8. Save it as CSV in UTF-8.",
  checking: "Checking what would change…",
  nothingChanges: "Nothing would change: the day has these facts already.",
  changes: (apps: number, shown: number) =>
    `Figures of ${plural(apps, "app", "apps")} would change.${shown < apps ? ` The first ${count(shown)} are shown.` : ""}`,
  replaceIt: "Replace the day",
  replacing: "Loading…",
  done: (date: string, rows: number) => `${plural(rows, "row", "rows")} loaded for ${dateText(date)}.`,
  wrongTitle: "Nothing was loaded",
  wrongText: (lines: number) =>
    lines >= 20 ? "These are the first 20 problems." : `${plural(lines, "problem was", "problems were")} found.`,
  line: (line: number) => `Line ${count(line)}:`,
};

export const changedSums = {
  table: "Totals before and after",
  app: "App",
  all: "All apps",
  clicksBefore: "Clicks before",
  clicksAfter: "Clicks after",
  revenueBefore: "Revenue before",
  revenueAfter: "Revenue after",
};

export const restate = {
  name: "Restate",
  of: (date: string) => `Restate ${dateText(date)}`,
  title: (date: string) => `Restate ${dateText(date)}?`,
  intro:
    "Asks the outboxes and click counters for their totals of this day, and corrects the clicks and revenue that Signpost counted. Loaded facts stay.",
  asking: "Asking the sources…",
  changes: (apps: number) => `Clicks or revenue of ${plural(apps, "app", "apps")} would change.`,
  nothing: "Nothing would change: the totals of the sources match the reports.",
  nothingMore: "Restating the day still closes the items about its totals in Attention.",
  less: "The day would lose clicks or revenue. Make sure first that no source was restored to an earlier time.",
  damaged: (parts: number) =>
    `“Before” lacks ${plural(parts, "stored part", "stored parts")} of the day that cannot be read. Restating repairs the day.`,
  notKept: (sources: string[]) =>
    `${plural(sources.length, "source", "sources")} no longer ${sources.length === 1 ? "has" : "have"} all of this day, so the clicks or revenue from there are not corrected: ${sources.join(", ")}.`,
  start: "Restate the day",
  running: "Restating…",
  done: (date: string) => `${dateText(date)} was restated.`,
};
