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
  pubKey: {
    show: "Show the Pub-Key",
    hide: "Hide",
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
    recoverText: `Their passkeys, sessions and open invites to others end at once. All ${HIGHEST}s see a notice for 7 days.`,
    recoverIt: "Make the link",
    remove: "Remove",
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText:
      "They are signed out at once and cannot sign in again without a new invite. Open invites that they made end, too.",
    removed: (name: string) => `${name} was removed.`,
    known: "What they may know",
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
    removeText:
      "You cannot sign in with it any more, and all your other sessions end, since its device may have opened them.",
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
