// Text of the settings that only the dashboard has.

import { timeText } from "../../shared/format";
import { common, ROLE_NAMES } from "../../shared/messages";
import { settings } from "../../shared/messages/settings";
import { plural } from "../../shared/messages/plural";
import { SCOPE_NAMES } from "../../shared/messages/report-keys";
import type { KeyScope, Role } from "../types";

/** The events that a publisher's alarms report. */
export const alarmsIntro =
  "A signed webhook tells you when a receiver fails or works again, when rewards are given up, when ad figures are late, and when a final day changes.";

export const keys = {
  intro:
    "A report key lets your scripts and BI tools read reports or rewards, erase users, or set up test apps. One key for each use is best.",
  labelHint: "Where the key is used, for example “Looker”.",
  empty: "Create one to read reports from a script or a BI tool.",
  made: "It is shown only this once. Keep it where you keep passwords.",
  revokeText: "Scripts that use this key are refused from the next request on. This cannot be undone.",
};

export const pubKey = {
  ...settings.pubKey,
  intro: "Your apps send the Pub-Key with each offer request. It is the same for all your apps.",
  name: "Pub-Key",
  missingTitle: "No Pub-Key yet",
  missing: "Your account manager makes one when you are approved.",
  ask: "Ask for a new one",
  askTitle: "Ask for a new Pub-Key",
  askText:
    "Your account manager makes it. The old one then stops working within two minutes, so have an app update ready.",
  reason: "Reason",
  reasonHint: "For example: it was published by mistake.",
  send: "Send the request",
  sent: "Your request was sent.",
  asked: (by: string, at: number) =>
    `${by} asked for a new Pub-Key on ${timeText(at)}. Your account manager has the request.`,
  askedReason: (reason: string) => `Reason: ${reason}`,
};

/** The secrets that a removed member has made or seen. */
export const removal = {
  keys: "Revoke the report keys that they made",
  used: (scope: KeyScope, at: number | null) =>
    `${SCOPE_NAMES[scope]}. ${settings.lastUsed}: ${at === null ? common.never : timeText(at)}`,
  keysText: "A key that is not selected keeps working. A revoked key is refused at once, for good.",
  noKeys: "No report key that they made still works.",
  keysFailed: "You can remove the member without the list. Their report keys then keep working until you revoke them.",
  remove: (keys: number) => `Remove and revoke ${plural(keys, "key", "keys")}`,
  removed: (name: string, keys: number) =>
    `${settings.members.removed(name)} ${plural(keys, "report key was", "report keys were")} revoked.`,
  notRevoked: (label: string, name: string) => `“${label}” was not revoked, so ${name} was not removed. Try again.`,
  notRemoved: (name: string) => `The keys were revoked, but ${name} was not removed. Try again.`,
  known: (role: Role) =>
    role === "analyst" || role === "user_support"
      ? "This role sees no keys or secrets. If they were an owner or a developer before, they could read these. "
      : `As ${role === "owner" ? "an" : "a"} ${ROLE_NAMES[role].toLowerCase()}, they could read these. `,
  replace: "Replace what they must no longer use.",
  pubKey: "they could see it. Ask for a new one on that page.",
  apps: "the callback secrets and click secrets that they made, and all callback URLs, with any key in them.",
  audit: "it says who made which secret. Each was shown once, to that member.",
};
