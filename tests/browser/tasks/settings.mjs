// The settings: report keys, the Pub-Key, members, passkeys, sessions, the audit log.

import assert from "node:assert/strict";

const openSection = async (page, hand, name) => {
  await hand.press(page.getByRole("link", { name, exact: true }));
  await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
};
const inDialog = (page, name) => page.getByRole("dialog").getByRole("button", { name, exact: true });

export async function manageKeys(page, hand, label) {
  await page.goto("/dashboard");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await hand.press(page.getByRole("link", { name: "Settings", exact: true }));
  await page.waitForURL(/settings\/keys$/);
  await page.getByRole("heading", { name: "No report keys" }).waitFor();
  await hand.write(page.getByLabel("Label"), label);
  await hand.press(page.getByRole("button", { name: "Create a key" }));
  const shown = page.getByText(/^sk_/);
  await shown.waitFor();
  await hand.press(page.getByRole("button", { name: "Copy", exact: true }));
  await page.getByText("Copied.").waitFor({ state: "attached" });
  const key = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(key, /^sk_/);
  await hand.press(page.getByRole("button", { name: "Done" }));
  await shown.waitFor({ state: "detached" });
  await page.getByRole("table", { name: "Report keys" }).getByText(label).waitFor();
  assert.equal(await page.getByText(/sk_/).count(), 0, "the key is shown once");
  return key;
}

/** Makes a key that erases users; returns it, which is shown once. */
export async function makePrivacyKey(page, hand, label) {
  await page.goto("/dashboard/settings/keys");
  const does = page.getByLabel("What it does");
  assert.equal(await does.inputValue(), "ia-reporting.READ", "a key reads reports by itself");
  await hand.write(page.getByLabel("Label"), label);
  await hand.choose(does, "Erases users");
  await hand.press(page.getByRole("button", { name: "Create a key" }));
  const key = await page.getByText(/^sk_/).innerText();
  await hand.press(page.getByRole("button", { name: "Done" }));
  await keyRow(page, label).getByText("Erases users").waitFor();
  return key;
}

const keyRow = (page, label) =>
  page.getByRole("table", { name: "Report keys" }).getByRole("row").filter({ hasText: label });

/** Makes a key as a member who may not reach users. */
export async function makeReportKey(page, hand, label) {
  await page.goto("/dashboard/settings/keys");
  await page.getByLabel("Label").waitFor();
  const does = await page.getByLabel("What it does").locator("option").allInnerTexts();
  assert.deepEqual(does, ["Reads reports", "Sets up test apps"], "keys that reach users are for owners");
  await hand.write(page.getByLabel("Label"), label);
  await hand.press(page.getByRole("button", { name: "Create a key" }));
  await hand.press(page.getByRole("button", { name: "Done" }));
  await keyRow(page, label).getByText("Reads reports").waitFor();
}

export async function revokeKey(page, hand, label) {
  await hand.press(page.getByRole("button", { name: `Revoke ${label}` }));
  await hand.press(inDialog(page, "Revoke"));
  await page.getByText(`“${label}” was revoked.`).waitFor({ state: "attached" });
  await page.getByRole("heading", { name: "No report keys" }).waitFor();
}

export async function readPubKey(page, hand, pubKey) {
  await openSection(page, hand, "Pub-Key");
  assert.equal(await page.getByText(pubKey).count(), 0, "the Pub-Key is shown on request");
  await hand.press(page.getByRole("button", { name: "Show the Pub-Key" }));
  await page.getByText(pubKey).waitFor();
  await hand.press(page.getByRole("button", { name: "Hide" }));
  await page.getByText(pubKey).waitFor({ state: "detached" });
}

/** Asks for another Pub-Key; whoever comes back sees that it was asked for. */
export async function askForPubKey(page, hand, reason) {
  await hand.press(page.getByRole("button", { name: "Ask for a new one" }));
  await hand.write(page.getByLabel("Reason"), reason);
  await hand.press(inDialog(page, "Send the request"));
  await page.getByText("Your request was sent.").waitFor({ state: "attached" });
  const asked = page.getByText(/^Ana Ruiz asked for a new Pub-Key on /);
  await asked.waitFor();
  await page.reload();
  await asked.waitFor();
  await page.getByText(reason).waitFor();
  assert.equal(await page.getByRole("button", { name: "Ask for a new one" }).count(), 0, "one request is enough");
}

/** Invites a member; returns the link, which is shown once. */
export async function inviteMember(page, hand, name) {
  await openSection(page, hand, "Members");
  await hand.press(page.getByRole("button", { name: "Invite a member" }));
  await hand.write(page.getByLabel("Name"), name);
  await hand.tick(page.getByRole("dialog").getByRole("radio", { name: /Developer/ }));
  await hand.press(page.getByRole("button", { name: "Make the invite link" }));
  const link = page.getByRole("dialog").getByText(/#invite=inv_/);
  const url = await link.innerText();
  await hand.press(page.getByRole("button", { name: "Done" }));
  await link.waitFor({ state: "detached" });
  await page.getByRole("table", { name: "Open invites" }).getByText(name).waitFor();
  return url;
}

export async function withdrawInvite(page, hand, name) {
  await hand.press(page.getByRole("button", { name: `Withdraw: ${name}` }));
  await hand.press(inDialog(page, "Withdraw"));
  await page.getByText(`The invite for ${name} was withdrawn.`).waitFor({ state: "attached" });
  await page.getByText("No invite is open.").waitFor();
}

/** Gives a developer another role, and removes the member in the end. The last owner cannot step down. */
export async function changeMembers(page, hand, { name, self }) {
  const role = page.getByLabel(`Role of ${name}`);
  await hand.choose(role, "Analyst");
  await hand.press(inDialog(page, "Change the role"));
  await page.getByText(`The role of ${name} was changed.`).waitFor({ state: "attached" });
  const isAnalyst = (label) => document.querySelector(`[aria-label="${label}"]`)?.value === "analyst";
  await page.waitForFunction(isAnalyst, `Role of ${name}`);

  await hand.choose(page.getByLabel(`Role of ${self}`), "Analyst");
  await hand.press(inDialog(page, "Change the role"));
  await page.getByText(/This is the last owner/).waitFor();
  await hand.press(inDialog(page, "Cancel"));
  assert.equal(await page.getByLabel(`Role of ${self}`).inputValue(), "owner");

  await hand.press(page.getByRole("button", { name: `Remove ${name}` }));
  await page.getByText("No report key that they made still works.").waitFor();
  await page.getByText("This role sees no keys or secrets.").waitFor();
  await hand.press(inDialog(page, "Remove"));
  await page.getByText(`${name} was removed.`).waitFor({ state: "attached" });
  await role.waitFor({ state: "detached" });
}

/** Opens the dialog that removes a member; returns it once it lists the report keys that the member made. */
export async function askToRemove(page, hand, name, labels) {
  await hand.press(page.getByRole("button", { name: `Remove ${name}` }));
  const dialog = page.getByRole("dialog", { name: `Remove ${name}?` });
  const boxes = dialog.getByRole("group", { name: "Revoke the report keys that they made" }).getByRole("checkbox");
  await boxes.first().waitFor();
  const listed = await boxes.evaluateAll((all) => all.map((box) => box.labels[0].children[1].textContent));
  assert.deepEqual(listed.sort(), labels);
  for (const box of await boxes.all()) assert.ok(await box.isChecked());
  return dialog;
}

const passkeyRows = (page, count) =>
  page.waitForFunction((count) => document.querySelectorAll("main tbody tr").length === count, count);

/** A device has one passkey of a member; another device adds the second. */
export async function addPasskey(page, hand, authenticator) {
  await openSection(page, hand, "Your passkeys");
  await passkeyRows(page, 1);
  assert.equal(await page.getByRole("button", { name: /^Remove/ }).count(), 0, "the last passkey stays");
  await hand.press(page.getByRole("button", { name: "Add a passkey" }));
  await page.getByText(/^This device already has one of your passkeys/).waitFor();
  await authenticator.replace([]);
  await hand.press(page.getByRole("button", { name: "Add a passkey" }));
  await page.getByText("The passkey was added.").waitFor({ state: "attached" });
  await passkeyRows(page, 2);
}

/** Removes the older of two passkeys. */
export async function removeOldPasskey(page, hand) {
  await hand.press(page.getByRole("button", { name: /^Remove the passkey/ }).first());
  await hand.press(inDialog(page, "Remove"));
  await page.getByText("The passkey was removed, and your other sessions were ended.").waitFor({ state: "attached" });
  await passkeyRows(page, 1);
}

/** Ends the member's one other session. */
export async function endOtherSession(page, hand) {
  await openSection(page, hand, "Your sessions");
  await page.getByText("this browser").waitFor();
  await hand.press(page.getByRole("button", { name: /^Sign out .* on / }));
  await hand.press(inDialog(page, "Sign out"));
  await page.getByText("The browser was signed out.").waitFor({ state: "attached" });
  await page.getByRole("button", { name: /^Sign out .* on / }).waitFor({ state: "detached" });
}

export async function readAudit(page, hand, entries) {
  await openSection(page, hand, "Audit log");
  const table = page.getByRole("table", { name: "Audit log" });
  for (const entry of entries) await table.getByText(entry).first().waitFor();
}
