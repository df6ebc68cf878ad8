// Text for the operator's own actions in the audit. The text for actions of members is shared by both sites.

import { count, dateText, timeText } from "../../shared/format";
import { AUDIT_ACTIONS, auditDetail, roleDetail } from "../../shared/messages/audit";
import { plural } from "../../shared/messages/plural";
import { codeText, STATE_NAMES } from "../../shared/messages/rewards";
import type { AuditEntry, RewardState } from "../../shared/types";
import { decisions, document, terms } from "./apps";
import { editor, fields } from "./offer-editor";
import { publisher, publishers } from "./publishers";
import { rewards, settle } from "./rewards";

export const audit = {
  intro:
    "Changes by the operator's members, newest first. Calls with the operator's token are only in the service's log.",
  publisher: (id: string) => `Publisher ${id}`,
  app: (id: string) => `App ${id}`,
  advertiser: (id: string) => `Advertiser ${id}`,
  offer: (id: string) => `Offer ${id}`,
  reward: "Reward",
  nothingChanged: "no change",
};

/** Actions of the operator, by the names in `src/origin/http/routes.rs`. */
const OPERATOR_ACTIONS: Record<string, string> = {
  publisher_put: "Changed a publisher",
  app_put: "Changed an app",
  advertiser_put: "Changed an advertiser",
  offer_put: "Changed an offer",
  imported: "Imported a file",
  published: "Published all changes",
  publisher_invited: "Invited somebody to a publisher",
  publisher_invite_withdrawn: "Withdrew an invite to a publisher",
  publisher_recovery_issued: "Made a recovery link for a publisher's member",
  pub_key_issued: "Issued a Pub-Key",
  token_issued: "Issued a token",
  token_revoked: "Revoked a token",
  terms_entered: "Entered lost terms",
  facts_added: "Added facts",
  facts_replaced: "Replaced a day of facts",
  day_restated: "Restated a day",
  attention_ended: "Closed an item in Attention",
  object_restored: "Restored an object to an earlier time",
  reward_approved: "Approved a reward",
  reward_rejected: "Rejected a conversion",
  reward_reversed: "Reversed a reward",
  rewards_approved: "Approved rewards",
  rewards_rejected: "Rejected conversions",
  rewards_reversed: "Reversed rewards",
};

const CREATED: Record<string, string> = {
  publisher_put: "Created a publisher",
  app_put: "Created an app",
  advertiser_put: "Created an advertiser",
  offer_put: "Created an offer",
};

export const operatorAction = ({ action, detail }: AuditEntry) =>
  (detail === "created" && CREATED[action]) || (OPERATOR_ACTIONS[action] ?? AUDIT_ACTIONS[action] ?? action);

/** The names that the pages use for the members of documents. */
const FIELDS: Record<string, Record<string, string>> = {
  publisher_put: { name: "Name", approved: "Approval", closed: publishers.closed, max_apps: publisher.mostApps },
  app_put: {
    publisher_id: document.publisher,
    name: "Name",
    platform: document.platform,
    currency: document.currency,
    callback: document.callback,
    fallback_url: document.fallback,
    ...decisions.names,
    click_secret: document.signing,
    previous_click_secret: "Old secret of signed clicks",
    outbox_shards: document.shards,
    terms_since: terms.title,
  },
  advertiser_put: { name: "Name" },
  offer_put: {
    ...Object.fromEntries(Object.entries(fields).map(([name, { label }]) => [name, label])),
    geo_tgt: editor.targeting,
    goals: editor.goals,
    retired_goals: "Retired goals",
    starts_at: "Start",
    ends_at: "End",
    once_per: "How often a goal is paid",
  },
};

const GOAL_FIELDS: Record<string, string> = {
  ttl: "title",
  instr: "instructions",
  payout_usd: "payout in USD",
  ord: "order",
  gl_val: "value",
};

/** The name for a document's member, from the path that `src/domain/catalog/changes.rs` writes. */
function fieldName(action: string, path: string): string {
  const [first = "", ...rest] = path.split(".");
  const name = FIELDS[action]![first] ?? first;
  if (first !== "goals") return [name, ...rest].join(", ");
  const [goal, field] = rest;
  return [goal ? `Goal ${goal}` : name, field && (GOAL_FIELDS[field] ?? field)].filter(Boolean).join(", ");
}

const TIMES = ["starts_at", "ends_at", "terms_since"];

function valueText(path: string, value: unknown): string {
  if (typeof value === "number" && TIMES.includes(path)) return timeText(value);
  if (value === null || value === "") return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length > 0 ? value.map((item) => valueText(path, item)).join(" ") : "none";
  return String(value);
}

type FieldChange = [path: string, before?: unknown, after?: unknown];

function changeText(action: string, [path, ...values]: FieldChange): string {
  const name = fieldName(action, path);
  return values.length === 2 ? `${name}: ${valueText(path, values[0])} → ${valueText(path, values[1])}` : name;
}

function fieldsDetail(action: string, detail: string): string | null {
  if (detail === "created") return null;
  if (detail === "" || detail === "[]") return audit.nothingChanged;
  // Entries from before 0.1.0 contain only names.
  const changes: FieldChange[] = detail.startsWith("[")
    ? JSON.parse(detail)
    : detail.split(", ").map((name): FieldChange => [name]);
  return changes.map((change) => changeText(action, change)).join("; ");
}

/** The reason that somebody gave, and the reasons that were overridden. */
function orderDetail(detail: string): string {
  const [, reason = detail, despite] = /^(.*) \(despite ([a-z_, ]+)\)$/s.exec(detail) ?? [];
  const against = despite?.split(", ").map(codeText).join(" ");
  return `“${reason}”${against ? `, despite: ${against}` : ""}`;
}

const MANY =
  /^(\d+) of (\d+) with status (\w+)(?:, reason (.*?))?(, of one user)?(?:, offer ([A-Za-z0-9-]+))?(?:, from ([\d:TZ.-]+))?(?:, until ([\d:TZ.-]+))?: (.*)$/s;

/** How many of the rewards with these conditions were settled, and why. */
function manyDetail(detail: string): string {
  const found = MANY.exec(detail);
  if (!found) return detail;
  const [, done, matched, status, reason, user, offer, from, until, why] = found;
  const conditions = [
    `${count(Number(done))} of ${count(Number(matched))} that were ${(STATE_NAMES[status as RewardState] ?? status!).toLowerCase()}`,
    reason && settle.withReason(rewards.inWords(codeText(reason)).replace(/\.$/, "")),
    user && "of one user",
    offer && `of offer ${offer}`,
    from && `from ${timeText(from)}`,
    until && `until ${timeText(until)}`,
  ];
  return `${conditions.filter(Boolean).join(", ")}: ${orderDetail(why!)}`;
}

const amountDetail = (detail: string) =>
  detail.replace(/^(\d+) (row|line)s?$/, (_, number: string, what: string) => plural(Number(number), what, `${what}s`));

const serial = (id: string) => `serial ${id}`;

/** The detail of an entry in words. */
export function operatorDetail({ action, detail }: AuditEntry): string | null {
  if (detail === null) return null;
  if (action in FIELDS) return fieldsDetail(action, detail);
  if (/^reward_(approved|rejected|reversed)$/.test(action)) return orderDetail(detail);
  if (/^rewards_(approved|rejected|reversed)$/.test(action)) return manyDetail(detail);
  switch (action) {
    case "rewards_replayed": {
      // An older entry may contain only the number of callbacks.
      const [, again] = /^(\d+) sent again$/.exec(detail) ?? [];
      return again ? `${count(Number(again))} sent again` : auditDetail(action, detail);
    }
    case "report_key_created":
      return detail.replace(/^(.*), (\S+)$/s, "“$1”, key $2");
    case "token_issued":
      return serial(detail);
    case "imported":
    case "facts_added":
    case "facts_replaced":
      return amountDetail(detail);
    case "publisher_invited":
      return roleDetail(detail);
    default:
      return auditDetail(action, detail);
  }
}

const MEMBER_LETTERS = 6;

/** The meaning of the ids that follow the first one in a subject. */
export const OTHER_IDS: Record<string, (id: string) => string> = {
  report_key_revoked: (id) => `key ${id}`,
  token_revoked: serial,
  facts_replaced: dateText,
  day_restated: dateText,
  publisher_recovery_issued: (id) => `member ${id.slice(0, MEMBER_LETTERS)}`,
};
