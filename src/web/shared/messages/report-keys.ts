// Text of report keys that both sites have.

export const reportKeys = {
  create: "Create a key",
  label: "Label",
  by: (name: string) => `by ${name}`,
  emptyTitle: "No report keys",
  madeTitle: "Copy the new key now",
  newKey: "New report key",
  revoke: "Revoke",
  revokeTitle: (label: string) => `Revoke “${label}”?`,
  revoked: (label: string) => `“${label}” was revoked.`,
};
