// Text of report keys that both sites have.

import type { KeyScope } from "../types";

export const SCOPE_NAMES: Record<KeyScope, string> = {
  "ia-reporting.READ": "Reads reports",
  "ia-rewards.READ": "Reads rewards",
  "ia-privacy.WRITE": "Erases users",
  "ia-test.WRITE": "Sets up test apps",
};

export const SCOPE_HINTS: Record<KeyScope, string> = {
  "ia-reporting.READ": "Lets scripts and BI tools read reports.",
  "ia-rewards.READ": "Lets a server read every reward, with its user.",
  "ia-privacy.WRITE": "Lets a server erase a user from all apps, or read a user’s data.",
  "ia-test.WRITE": "Lets a build server set up test apps and their callbacks, and nothing else.",
};

export const reportKeys = {
  create: "Create a key",
  label: "Label",
  scope: "What it does",
  by: (name: string) => `by ${name}`,
  emptyTitle: "No report keys",
  madeTitle: "Copy the new key now.",
  newKey: "New report key",
  revoke: "Revoke",
  revokeTitle: (label: string) => `Revoke “${label}”?`,
  revoked: (label: string) => `“${label}” was revoked.`,
};
