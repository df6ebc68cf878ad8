// Text of the settings.

import { HIGHEST } from "#site";
import { timeText } from "../format";
import type { Role } from "../types";
import { ROLE_HINTS, ROLE_NAMES } from "./names";

export const settings = {
  title: "Settings",
  nav: "Settings",
  createdAt: "Created",
  lastUsed: "Last used",
  confirm: "Confirm with your passkey if your browser asks.",
  keys: {
    intro: "A report key lets your scripts and BI tools read the reporting API. One key for each use is best.",
    labelHint: "Where the key is used, for example “Looker”.",
    empty: "Create one to read reports from a script or a BI tool.",
    made: "It is shown only this once. Keep it where you keep passwords.",
    revokeText: "Scripts that use this key are refused from the next request on. This cannot be undone.",
  },
  pubKey: {
    intro: "Your apps send the Pub-Key with each offer request. It is the same for all your apps.",
    show: "Show the Pub-Key",
    hide: "Hide",
    name: "Pub-Key",
    missing: "You have no Pub-Key yet. Your account manager makes one when you are approved.",
    ask: "Ask for a new one",
    askTitle: "Ask for a new Pub-Key",
    askText: "Your account manager makes it. The old one then stops within two minutes, so have an app update ready.",
    reason: "Reason",
    reasonHint: "For example: it was published by mistake.",
    send: "Send the request",
    sent: "Your request was sent.",
    asked: (by: string, at: number) => `${by} asked for a new Pub-Key on ${timeText(at)}. Your account manager has it.`,
    askedReason: (reason: string) => `Reason: ${reason}`,
  },
  members: {
    intro: "People who can sign in to this account.",
    invite: "Invite a member",
    name: "Name",
    role: "Role",
    passkeys: "Passkeys",
    lastSeen: "Last seen",
    you: "you",
    changeRole: (name: string) => `Role of ${name}`,
    roleTitle: (name: string, role: Role) =>
      `Make ${name} ${/^[aeo]/.test(role) ? "an" : "a"} ${ROLE_NAMES[role].toLowerCase()}?`,
    roleText: (role: Role) =>
      `${ROLE_NAMES[role]}: ${ROLE_HINTS[role]}. It counts from their next click on.` +
      (role === HIGHEST ? "" : " Open invites that they made end."),
    changeIt: "Change the role",
    roleChanged: (name: string) => `The role of ${name} was changed.`,
    recover: "Recovery link",
    recovery: "recovery",
    recoverTitle: (name: string) => `Make a recovery link for ${name}?`,
    recoverText:
      `Their passkeys, sessions and open invites to others end at once. All ${HIGHEST}s see a notice for 7 days.`,
    recoverIt: "Make the link",
    remove: "Remove",
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText:
      "They are signed out at once and cannot sign in again without a new invite. Open invites that they made end, too.",
    removed: (name: string) => `${name} was removed.`,
    linkTitle: (name: string) => `Send this link to ${name}`,
    linkText: (until: number) => `It is shown only this once, works once, and ends on ${timeText(until)}.`,
    link: "Invite link",
    create: "Make the invite link",
    pending: "Open invites",
    noPending: "No invite is open.",
    validUntil: "Valid until",
    by: "Invited by",
    withdraw: "Withdraw",
    withdrawTitle: (name: string) => `Withdraw the invite for ${name}?`,
    withdrawText: "The link stops working at once.",
    withdrawRecoveryText: `The link stops working at once. This member cannot sign in until an ${HIGHEST} makes another one.`,
    withdrawn: (name: string) => `The invite for ${name} was withdrawn.`,
    actions: "Actions",
  },
  sessions: {
    intro:
      "Browsers that you are signed in with. A session ends after 12 hours without use, and after 7 days in any case.",
    browser: "Browser",
    signedIn: "Signed in",
    lastSeen: "Last seen",
    current: "this browser",
    end: "Sign out",
    endOf: (browser: string) => `Sign out ${browser}`,
    endTitle: (browser: string) => `Sign out ${browser}?`,
    endText: "That browser needs your passkey to sign in again.",
    ended: "The session was ended.",
    unknownBrowser: "Unknown browser",
    on: (browser: string, system: string) => `${browser} on ${system}`,
  },
  passkeys: {
    intro: "You sign in with any of these. With a second one, on another device, you can lose one and still get in.",
    add: "Add a passkey",
    waiting: "Waiting for your passkey…",
    added: "The passkey was added.",
    maker: "Made with",
    emptyTitle: "No passkeys",
    empty: "You signed in without one, as local installations allow.",
    remove: "Remove",
    removeOf: (browser: string, at: number) => `Remove the passkey made with ${browser} on ${timeText(at)}`,
    removeTitle: (browser: string) => `Remove the passkey made with ${browser}?`,
    removeText: "You cannot sign in with it any more, and all your other sessions end, since its device may have opened them.",
    removed: "The passkey was removed, and your other sessions were ended.",
  },
  audit: {
    intro: "What members changed here, and what the operator did to members, newest first.",
    at: "When",
    by: "Who",
    action: "What",
    subject: "To what",
    unconfirmed: "Not confirmed: it may not have been carried out.",
    more: "Show older entries",
    end: "These are all the entries.",
    emptyTitle: "No entries yet",
    empty: "Changes of keys, members and settings appear here.",
  },
};

/** Text for an action of the audit log. An action that is new to this page is shown by its own name. */
export const AUDIT_ACTIONS: Record<string, string> = {
  member_invited: "Invited a member",
  invite_withdrawn: "Withdrew an invite",
  member_joined: "Joined by an invite",
  member_removed: "Removed a member",
  member_recovered: "Came back by a recovery link",
  role_changed: "Changed a role",
  recovery_issued: "Made a recovery link",
  signed_in: "Signed in",
  signed_out: "Signed out",
  session_ended: "Signed out a session",
  passkey_added: "Added a passkey",
  passkey_removed: "Removed a passkey",
  account_suspended: "Suspended the account",
  account_admitted: "Admitted the account again",
  report_key_created: "Created a report key",
  report_key_revoked: "Revoked a report key",
  pub_key_requested: "Asked for a new Pub-Key",
  app_created: "Set up an app",
  app_changed: "Changed an app",
  callback_secret_renewed: "Made a new callback secret",
  callback_secret_ended: "Ended the former callback secret",
  click_secret_renewed: "Made a new click secret",
  click_secret_ended: "Ended the former click secret",
  click_signing_ended: "Stopped requiring signed clicks",
  callback_tested: "Tested a callback",
  callback_enabled: "Switched a callback on again",
  tracking_url_signed: "Signed a tracking URL",
  reward_replayed: "Sent a callback again",
  rewards_replayed: "Sent callbacks again",
  replay_cancelled: "Stopped sending callbacks again",
};

/** Text for the details of the actions above that are words of ours. */
const AUDIT_WORDS: Record<string, Record<string, string>> = {
  app_changed: { fallback_url: "fallback URL", blocked_offers: "blocked offers" },
  callback_tested: { both: "signed as usual", current: "signed with the new secret alone", wrong: "with a wrong signature" },
};

/** States of callbacks and of rewards, by the names that the log gives them. */
export const REPLAY_WORDS: Record<string, string> = {
  waiting: "Waiting",
  delivered: "Delivered",
  dead: "Given up",
  not_wanted: "Not asked for",
  no_endpoint: "No callback",
  approved: "Approved",
  pending: "Pending",
  held: "Held for review",
  rejected: "Rejected",
  reversed: "Reversed",
  refused: "Refused",
};

/** The conditions of a replay, as `src/origin/dashboard/replay_query.rs` writes them. A transaction id is the last. */
function replayDetail(detail: string): string {
  const words = /^(?:delivery (\w+), )?(?:state (\w+), )?(?:http_status (\d+), )?(user, )?(?:from (\d+), )?until (\d+)(?:, transaction (.*))?$/s;
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

export const auditDetail = (action: string, detail: string | null) => {
  const words = AUDIT_WORDS[action];
  if (action === "rewards_replayed" && detail) return replayDetail(detail);
  return words && detail ? detail.replace(/\w+/g, (word) => words[word] ?? word) : detail;
};
