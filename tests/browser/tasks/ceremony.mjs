// A member's first minutes: the invite, the passkey, leaving and coming back.

import assert from "node:assert/strict";

const heading = (page, name) => page.getByRole("heading", { name, exact: true }).waitFor();

/** Follows an invite to the overview. Nothing is spent, and the address is clean, before the button is pressed. */
export async function acceptInvite(page, hand, invite, { publisher, member, button = "Create a passkey" }) {
  await page.goto(invite);
  await heading(page, `Join ${publisher}`);
  assert.equal(await page.evaluate(() => location.href.includes("#")), false, "the invite is not in the address");
  assert.equal(await page.evaluate(() => history.length), 2, "the invite is not in the history");
  await page.getByText(member).waitFor();
  assert.deepEqual(
    page.requests.filter((request) => request.startsWith("POST")),
    ["POST /v1/dashboard/invite"],
    "an invite waits for a click",
  );
  await hand.press(page.getByRole("button", { name: button }));
  await heading(page, "Overview");
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
}

export async function signOut(page, hand) {
  await hand.press(page.getByRole("button", { name: /^Account/ }));
  const links = page.getByRole("link", { name: "Documentation" });
  assert.equal(await links.count(), 0, "DOCS_URL is not set");
  await hand.press(page.getByRole("button", { name: "Sign out", exact: true }));
  await heading(page, "Sign in");
}

export async function signInAgain(page, hand, title) {
  await hand.press(page.getByRole("button", { name: "Sign in with a passkey" }));
  await heading(page, title);
}
