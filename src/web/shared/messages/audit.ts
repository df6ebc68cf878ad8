// Text for the entries of an audit log.

import { timeText } from "../format";
import type { KeyScope, Role } from "../types";
import { DELIVERY_NAMES, ROLE_NAMES, STATE_NAMES } from "./names";
import { SCOPE_NAMES } from "./report-keys";

/** Text for an action of the audit log. An action that is new to this page is shown by its own name. */
export const AUDIT_ACTIONS: Record<string, string> = {
  member_invited: "Invited a member",
  invite_withdrawn: "Withdrew an invite",
  member_joined: "Joined with an invite",
  member_removed: "Removed a member",
  member_recovered: "Got back in with a recovery link",
  role_changed: "Changed a role",
  recovery_issued: "Made a recovery link",
  signed_in: "Signed in",
  signed_out: "Signed out",
  session_ended: "Signed out a session",
  passkey_added: "Added a passkey",
  passkey_removed: "Removed a passkey",
  account_restored: "The account was restored from a copy",
  account_suspended: "Suspended the account",
  account_admitted: "Approved the account again",
  report_key_created: "Created a report key",
  report_key_revoked: "Revoked a report key",
  pub_key_requested: "Asked for a new Pub-Key",
  app_created: "Set up an app",
  app_changed: "Changed an app",
  callback_secret_renewed: "Made a new callback secret",
  callback_secret_ended: "Ended the old callback secret",
  click_secret_renewed: "Made a new click secret",
  click_secret_ended: "Ended the old click secret",
  click_signing_ended: "Stopped requiring signed clicks",
  callback_tested: "Tested a callback",
  callback_enabled: "Switched a callback on again",
  tracking_url_signed: "Signed a tracking URL",
  reward_replayed: "Sent a callback again",
  rewards_replayed: "Sent callbacks again",
  replay_cancelled: "Stopped sending callbacks again",
  user_erased: "Erased a user",
  user_exported: "Downloaded a user's data",
  alarm_address_set: "Set the alarm address",
  alarm_address_ended: "Ended alarms",
  alarms_tested: "Sent a test to the alarm address",
};

/** Text for details that Signpost itself words, by action. */
const AUDIT_WORDS: Record<string, Record<string, string>> = {
  app_changed: { fallback_url: "fallback URL", blocked_offers: "blocked offers" },
  callback_tested: {
    both: "signed as usual",
    current: "signed with the new secret alone",
    wrong: "with a wrong signature",
  },
};

/** States of callbacks and of rewards, by the names that the log gives them. */
export const REPLAY_WORDS: Record<string, string> = { ...DELIVERY_NAMES, ...STATE_NAMES };

/** The conditions of a replay, as `src/origin/http/site/replay_query.rs` writes them. A transaction id comes last. */
function replayDetail(detail: string): string {
  const words =
    /^(?:delivery (\w+), )?(?:state (\w+), )?(?:http_status (\d+), )?(user, )?(?:from (\d+), )?until (\d+)(?:, transaction (.*))?$/s;
  const found = words.exec(detail);
  if (!found) return detail;
  const [, delivery, state, status, user, from, until, transaction] = found;
  const conditions = [
    delivery && (REPLAY_WORDS[delivery] ?? delivery),
    state && `state ${REPLAY_WORDS[state] ?? state}`,
    status && `HTTP ${status}`,
    user && "one user",
    transaction && `transaction ${transaction}`,
  ].filter(Boolean);
  const since = from ? ` from ${timeText(Number(from))}` : "";
  return `${conditions.join(", ") || "All"}: conversions${since} until ${timeText(Number(until))}`;
}

/** Actions whose detail is a role, or a change from one role to another. */
const OF_ROLES = new Set([
  "member_invited",
  "invite_withdrawn",
  "member_joined",
  "member_recovered",
  "member_removed",
  "role_changed",
]);

/** Replaces the roles in a detail by their names. A member's name may come before them. */
export const roleDetail = (detail: string) =>
  detail.replace(/(?:^|(?<=, ))[a-z_]+(?: to [a-z_]+)?$/, (roles) =>
    roles.replace(/[a-z_]+/g, (role) => ROLE_NAMES[role as Role] ?? role),
  );

/** Replaces the scope after a key's label by its name. */
const scopeDetail = (detail: string) =>
  detail.replace(/\(([\w.-]+)\)$/, (whole, scope) => {
    const name = SCOPE_NAMES[scope as KeyScope];
    return name ? `(${name.toLowerCase()})` : whole;
  });

export function auditDetail(action: string, detail: string | null): string | null {
  if (!detail) return detail;
  if (action === "rewards_replayed") return replayDetail(detail);
  if (OF_ROLES.has(action)) return roleDetail(detail);
  if (action === "report_key_created") return scopeDetail(detail);
  const words = AUDIT_WORDS[action];
  return words ? detail.replace(/\w+/g, (word) => words[word] ?? word) : detail;
}
