// Text of the first page: the items that need an operator's attention.

import { durationText, money, sizeText } from "../../shared/format";
import { plural } from "../../shared/messages/plural";
import { codeText } from "../../shared/messages/rewards";
import type { AttentionKind } from "../../shared/generated/openapi";

export const KIND_NAMES: Record<AttentionKind, string> = {
  held: "Held for review",
  capped: "Earned beyond a cap",
  dead: "Callback given up",
  disabled: "Callback switched off",
  failing: "Callback failing",
  near_limit: "Storage nearly full",
  batch_refused: "Totals rejected",
  batch_late: "Totals late",
  differs: "Totals differ from the ledger",
  unconfirmed: "Day final, unconfirmed",
  terms_lost: "Terms lost",
  restored: "Restored from a copy",
  facts_late: "Ad figures late",
};

/** The meaning of each kind, and its remedy. */
export const KIND_HINTS: Record<AttentionKind, string> = {
  held: "Conversions that wait for a decision. Approve or reject each; nobody is paid until then. Those of a suspended publisher are decided automatically when it is approved again.",
  capped: "Users earned these, but the offer had reached its conversion cap for the day. Approve them to pay anyway.",
  dead: "Callbacks that were tried for days without a 2xx answer. Send them again once the receiver works.",
  disabled:
    "Receivers that answered 410 or asked Signpost to stop. Their rewards wait until the callback is switched on again.",
  failing: "Receivers that did not answer 2xx five times in a row. Calls are tried again automatically.",
  near_limit:
    "Stores that hold more than 8 of their 10 GB. An outbox has its app’s App-Id in its name: give new users a second app with more outboxes. For any other store, tell the developers.",
  batch_refused:
    "Totals of clicks or revenue that the reports rejected, so the reports are too low. Tell the developers; the totals are safe, and are sent again every 5 minutes.",
  batch_late:
    "Totals of clicks or revenue that were sent to the reports five times without an answer. Reports are too low until they arrive; the totals are safe, and are sent again automatically. Tell the developers if an item stays here.",
  differs:
    "Days on which the reports and the log of rewards or clicks have different totals. Compare the day, and tell the developers. Unless the log has the lower totals, restate the day in the publisher's facts to correct the reports. A day leaves the list once it is restated.",
  unconfirmed:
    "Days that became final seven days after their end, although a source of their clicks or revenue has not confirmed them or reports other totals. Reports of these days may be wrong. “Restate” in the publisher's facts first shows what would change, and names a source that does not answer. A day leaves the list once all sources have confirmed it.",
  terms_lost:
    "Postbacks that wait because a restore of the catalog lost the terms promised to their clicks. The row names the offer or app and the revision. Enter the terms with PUT /v1/operator/offers/{offer_id}/terms/{revision}, or …/apps/{app_id}/terms/{revision}. The postbacks are decided within minutes after that.",
  facts_late:
    "The figures of these days are late. They were due at noon (UTC) on the following day. Load the day, or confirm that there is nothing to load. It then leaves the list.",
  restored: "Stores that were restored from an earlier copy. Check what each row says, then close it.",
};

const REASONS: Record<string, string> = {
  held: "It waits for a decision.",
  late: "Its figures were not loaded by noon (UTC) of the next day.",
  no_answer: "The last try had no answer.",
  calls_fail: "Five calls in a row failed.",
  switched_itself_off: "The receiver answered 410, or asked Signpost to stop.",
  terms_lost: "The catalog does not have this revision. Nobody is paid under it until it is entered.",
  ledger_behind: "The totals of the reports are lower than those of the log.",
  log_behind: "The totals of the log are lower than those of the reports.",
  silent: "A source has not confirmed its clicks or revenue of the day.",
  account_restored: "Sessions and invites have ended. Members who joined since the copy may be missing.",
  catalog_restored: "Changes since the copy were made again automatically. Check the newest ones.",
  outbox_restored: "It has recovered everything from its journal. Nothing is left to do.",
  counters_restored: "Caps include all paid conversions and counted clicks. Nothing is left to do.",
  after_restore:
    "Its journal lacks its latest payments. Conversions of clicks from that time are held for 72 hours: ask the publisher which ones it has, and reject those.",
  clicks_restored:
    "Postbacks of clicks whose record may be lost are answered 503 for 31 days, so that partners repeat them.",
  paid_unknowing: "It paid rewards before its journal or its ledger answered. Look for users who were paid twice.",
  put_back: "Somebody restored it on purpose. To undo that, use the bookmark in the row.",
  ledger_restored: "Clicks and revenue are sent to it again automatically.",
  not_made_again: "This change came after the copy and could not be repeated. Make it again by hand.",
  load_again: "Facts of this day were lost. Load the day again. Until then it is not final.",
  differs: "A source has other totals than the reports. “Restate” shows what would change.",
};

function reasonText(reason: string): string {
  const status = /^http_(\d{3})$/.exec(reason)?.[1];
  return status ? `The last try was answered HTTP ${status}.` : (REASONS[reason] ?? codeText(reason));
}

export const attention = {
  title: "Attention",
  note: "Everything that needs a decision or a repair, oldest first.",
  tableName: "Open items",
  open: "open",
  tick: (subject: string) => `Select ${subject}`,
  kinds: "Kinds",
  nothingOf: "Nothing open:",
  all: "Everything",
  kind: "Kind",
  app: "App or publisher",
  since: "Since",
  ago: (ms: number) => `${durationText(ms)} ago`,
  reason: "Why",
  amount: "Amount",
  repair: "What to do",
  reasonText,
  repairs: {
    held: "Decide",
    capped: "Decide",
    dead: "Send again",
    disabled: "Switch on",
    failing: "See the app",
    near_limit: "See the service",
    batch_refused: "Compare the totals",
    batch_late: "Compare the totals",
    differs: "Compare the day",
    unconfirmed: "See the facts",
    terms_lost: "See the terms",
    restored: "Check it",
    facts_late: "See the facts",
  } satisfies Record<AttentionKind, string>,
  close: "Close",
  closed: "Closed",
  repairOf: (repair: string, subject: string) => `${repair}: ${subject}`,
  onlyApp: (app: string) => `Only app ${app}.`,
  everyApp: "All apps",
  live: "Live",
  behind: (ms: number) => `Behind by ${durationText(ms)}`,
  stopped: "Not being updated",
  behindHint: (ms: number) => `The list is behind by ${durationText(ms)}. Newer items may be missing.`,
  notListed: (number: number) =>
    `${plural(number, "more is", "more are")} open and not listed. They appear as the list gets shorter.`,
  /** Waiting items that are counted in addition to the kinds of the list. */
  waiting: {
    publishers: "Publishers to approve",
    pub_key_requests: "Pub-Key requests",
    near_caps: "Caps nearly used up",
  },
  emptyTitle: "Nothing in this list",
  seeAbove: "The tiles above lead to everything else that waits for you.",
  wellTitle: "All is well",
  well: "Nothing waits for you. New items appear here automatically.",
  wellOfKind: (kind: string) => `Nothing is open under “${kind}”.`,
  wellButBehind: (ms: number) => `Nothing is known to be open, but the list is behind by ${durationText(ms)}.`,
  next: "Next page",
  first: "First page",
  of10: (bytes: number) => `${sizeText(bytes)} of 10 GB`,
  amountOf: (usd: number) => money(usd),
};
