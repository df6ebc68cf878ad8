// The operator takes in a publisher: creates and approves it, lets its people in, gives it keys, mends a day, suspends it.

import assert from "node:assert/strict";

const dialog = (page) => page.getByRole("dialog");
const inDialog = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const heading = (page, name) => page.getByRole("heading", { name, exact: true, level: 1 });
const badge = (page, text) => page.locator(".heading .badge").getByText(text, { exact: true });
export const said = (page, text) => page.getByText(text).last().waitFor({ state: "attached" });

export async function createPublisher(page, hand, name) {
  await page.goto("/console/publishers");
  await hand.press(page.getByRole("button", { name: "Create a publisher" }));
  // An existing ID is never overwritten.
  await hand.write(dialog(page).getByLabel("Name"), "Lumen Arcade");
  await hand.press(inDialog(page, "Create"));
  await dialog(page).getByText("A publisher with the ID lumen-arcade already exists.").waitFor();
  await hand.write(dialog(page).getByLabel("Name"), "");
  await page.keyboard.press("Control+a");
  await page.keyboard.type(name);
  const id = await dialog(page).getByLabel("ID").inputValue();
  await hand.press(inDialog(page, "Create"));
  await heading(page, name).waitFor();
  await badge(page, "Not approved").waitFor();
  return id;
}

export async function approve(page, hand, name) {
  await hand.press(page.getByRole("button", { name: "Approve" }));
  await dialog(page).getByText("Its apps get offers and its clicks are redirected within two minutes.").waitFor();
  await hand.press(inDialog(page, "Approve"));
  await said(page, `${name} was approved.`);
  await badge(page, "Approved").waitFor();
}

/** The number of apps that the publisher sets up by itself. */
export async function raiseApps(page, hand, most) {
  await hand.press(page.getByRole("button", { name: "Edit" }));
  await hand.write(dialog(page).getByLabel("Apps it may set up by itself"), most);
  await hand.press(inDialog(page, "Save"));
  await page.getByText(`It may set up ${most} apps by itself.`).waitFor();
}

export async function suspend(page, hand, name) {
  await hand.press(page.getByRole("button", { name: "Suspend" }));
  await dialog(page).getByText("Its apps get no offers and its clicks are refused within two minutes.").waitFor();
  await hand.press(inDialog(page, "Suspend"));
  await said(page, `${name} was suspended.`);
  await badge(page, "Not approved").waitFor();
}

/** Closes a publisher for good, once its ID is typed. Afterwards no control is left that would reopen it. */
export async function close(page, hand, name, id) {
  await hand.press(page.getByRole("button", { name: "Close publisher" }));
  const field = dialog(page).getByLabel("Type the publisher's ID to confirm");
  await hand.write(field, name);
  await hand.press(inDialog(page, "Close publisher"));
  await dialog(page).getByText("This is not the publisher's ID.").waitFor();
  await field.fill("");
  await hand.write(field, id);
  await hand.press(inDialog(page, "Close publisher"));
  await said(page, `${name} was closed.`);
  await badge(page, "Closed").waitFor();
  await page.getByText(/^Closed for good\./).waitFor();
  assert.equal(await page.getByRole("button", { name: /^(Approve|Suspend|Edit|Close publisher)$/ }).count(), 0);
}

export const openSection = async (page, hand, name) => {
  await hand.press(page.getByRole("navigation", { name: "Publisher" }).getByRole("link", { name, exact: true }));
  await page.getByRole("navigation", { name: "Publisher" }).locator(`[aria-current]`, { hasText: name }).waitFor();
};

/** Invites an owner; returns the link, which is shown once. */
export async function invite(page, hand, name) {
  await hand.press(page.getByRole("button", { name: "Invite somebody" }));
  await hand.write(dialog(page).getByLabel("Name"), name);
  await hand.press(inDialog(page, "Make the invite link"));
  return takeLink(page, hand, name);
}

async function takeLink(page, hand, name) {
  await dialog(page)
    .getByRole("heading", { name: `Send this link to ${name}` })
    .waitFor();
  const link = await dialog(page).locator("code").innerText();
  await hand.press(inDialog(page, "Done"));
  assert.equal(await page.getByText(link).count(), 0, "the link is shown once");
  return link;
}

export async function withdraw(page, hand, name) {
  await hand.press(page.getByRole("button", { name: `Withdraw: ${name}` }));
  await hand.press(inDialog(page, "Withdraw"));
  await said(page, `The invite for ${name} was withdrawn.`);
  await page.getByText("No invite is open.").waitFor();
}

export async function recover(page, hand, name) {
  await hand.press(page.getByRole("button", { name: `Recovery link: ${name}` }));
  await hand.press(inDialog(page, "Make the link"));
  return takeLink(page, hand, name);
}

/** The first Pub-Key, which nothing ends. */
export async function issueFirstPubKey(page, hand, name) {
  await hand.press(page.getByRole("button", { name: "Show the Pub-Key" }));
  await page.getByText("No Pub-Key has been issued yet.").waitFor();
  await hand.press(page.getByRole("button", { name: "Issue a new key" }));
  await dialog(page)
    .getByRole("heading", { name: `Issue the Pub-Key of ${name}?` })
    .waitFor();
  return takeKey(page, hand);
}

export async function takeKey(page, hand) {
  await hand.press(inDialog(page, "Issue the key"));
  await dialog(page).getByRole("heading", { name: "The new Pub-Key" }).waitFor();
  const key = await dialog(page).locator("code").innerText();
  await hand.press(inDialog(page, "Done"));
  return key;
}

/** Creates a key that reads reports, unless it `does` something else. */
export async function createReportKey(page, hand, label, does) {
  await hand.write(page.getByLabel("Label"), label);
  if (does) await hand.choose(page.getByLabel("What it does"), does);
  await hand.press(page.getByRole("button", { name: "Create a key" }));
  const key = await page.getByText(/^sk_/).innerText();
  await hand.press(page.getByRole("button", { name: "Done" }));
  await page.getByRole("table", { name: "Report keys" }).getByText(label).waitFor();
  return key;
}

export async function revokeReportKey(page, hand, label) {
  await hand.press(page.getByRole("button", { name: `Revoke ${label}` }));
  await hand.press(inDialog(page, "Revoke"));
  await said(page, `“${label}” was revoked.`);
  await page.getByRole("heading", { name: "No report keys" }).waitFor();
}

const file = (name, text) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

/** Loads a file with a wrong line, which changes nothing, then a right one. */
export async function loadDay(page, hand, date, { wrong, right, rows }) {
  await hand.press(page.getByRole("button", { name: "Load a day" }));
  await hand.writeDate(dialog(page).getByLabel("Day, in UTC"), date);
  await hand.press(inDialog(page, "Replace the day"));
  await dialog(page).getByText("Choose a file first.").waitFor();
  const choose = (text) => dialog(page).locator("input[type=file]").setInputFiles(file("facts.csv", text));
  await choose(wrong);
  await dialog(page)
    .getByText(/^facts\.csv: 2 lines, /)
    .waitFor();
  const lines = dialog(page).getByRole("list", { name: "Nothing was loaded" });
  await lines.getByText("impressions").waitFor();
  await choose(right);
  await lines.waitFor({ state: "detached" });
  await dialog(page).getByText("Figures of 1 app would change.").waitFor();
  await hand.press(inDialog(page, "Replace the day"));
  await said(page, new RegExp(`${rows} rows? loaded for `));
  await page.getByRole("table", { name: "Facts" }).waitFor();
}
