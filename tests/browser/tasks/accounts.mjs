// Several accounts in one browser, and one that the operator suspends.

import assert from "node:assert/strict";

const heading = (page, name) => page.getByRole("heading", { name, exact: true }).waitFor();
const openMenu = (page, hand) => hand.press(page.getByRole("button", { name: /^Account/ }));

export const shows = (page, publisher) =>
  page.getByRole("button", { name: `Account: ${publisher}`, exact: true }).waitFor();

/** Signs in to a further account with the passkey that the authenticator has. */
export async function addAccount(page, hand, publisher) {
  await openMenu(page, hand);
  await hand.press(page.getByRole("button", { name: "Add another account" }));
  await heading(page, "Add another account");
  await hand.press(page.getByRole("button", { name: "Sign in with a passkey" }));
  await shows(page, publisher);
  await heading(page, "Overview");
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
}

/** Follows an invite to a further account, without leaving the one that is shown. */
export async function joinBesides(page, hand, invite, { publisher, current }) {
  await page.goto(invite);
  await heading(page, `Join ${publisher}`);
  await page.getByText(`You stay signed in to ${current}.`).waitFor();
  await hand.press(page.getByRole("button", { name: "Create a passkey" }));
  await shows(page, publisher);
}

export async function switchAccount(page, hand, publisher) {
  await openMenu(page, hand);
  await hand.press(page.getByRole("list", { name: "Accounts" }).getByRole("button", { name: publisher }));
  await page.getByText(`You now see ${publisher}.`).waitFor({ state: "attached" });
  await shows(page, publisher);
  assert.equal(new URL(page.url()).pathname, "/dashboard");
}

/** A change in a tab that still shows the former account: it is refused, and the tab follows. */
export async function changeFormerAccount(tab, hand, { former, current }) {
  await shows(tab, former);
  await hand.write(tab.getByLabel("Label"), "Looker");
  const answered = tab.waitForResponse((answer) => answer.request().method() === "POST");
  await hand.press(tab.getByRole("button", { name: "Create a key" }));
  const answer = await answered;
  assert.equal(answer.status(), 409);
  assert.equal((await answer.json()).code, "account_switched");
  await tab.getByText("You switched to another account in another tab. This tab follows.").waitFor();
  await shows(tab, current);
  await heading(tab, "Overview");
}

export async function signOutOfAll(page, hand) {
  await openMenu(page, hand);
  await hand.press(page.getByRole("button", { name: "Sign out of all accounts" }));
  await heading(page, "Sign in");
}

/** Opens a view that asks for nothing more by itself. */
export async function openKeys(page, hand) {
  await hand.press(page.getByRole("link", { name: "Settings", exact: true }));
  await heading(page, "Report keys");
  await page.getByText("No report keys").waitFor();
}

/** The account has been suspended while it was shown; the passkey does not get in, either. */
export async function meetSuspension(page, hand, contact) {
  await hand.press(page.getByRole("link", { name: "Reports", exact: true }));
  await heading(page, "This account is suspended");
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  const support = page.getByRole("link", { name: "Contact support" });
  assert.equal(await support.getAttribute("href"), contact);
  await hand.press(page.getByRole("button", { name: "Sign in to another account" }));
  await hand.press(page.getByRole("button", { name: "Sign in with a passkey" }));
  await heading(page, "This account is suspended");
  await support.waitFor();
}
