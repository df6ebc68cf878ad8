// The reward loop of a test app: added, its callback set, a test offer opened and reported, and the reward read.

import assert from "node:assert/strict";

const OFFER = "Test offer: one goal";

const heading = (page, name) => page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();

/** Opens the dialog from the overview's checklist, cancels, then adds a test app by the button; returns its App-Id. */
export async function addTestApp(page, hand) {
  await hand.press(page.getByRole("link", { name: "Try it with a test app" }));
  const dialog = page.getByRole("dialog");
  await dialog.getByText("A test app lists test offers only.").waitFor();
  await hand.press(dialog.getByRole("button", { name: "Cancel" }));
  await page.waitForURL(/\/dashboard\/apps$/);
  await hand.press(page.getByRole("button", { name: "Add a test app" }));
  await hand.press(dialog.getByRole("button", { name: "Add the test app" }));
  await heading(page, "Test app");
  await page.getByText("This is a test app.").waitFor();
  const appId = new URL(page.url()).pathname.split("/").at(-1);
  assert.match(appId, /^99[0-9]{6}$/);
  return appId;
}

/** Makes the tracking URL of the offer that is proposed, and opens it; returns the test page. */
export async function openTestOffer(page, hand, user) {
  await hand.press(page.getByRole("region", { name: "Try it with test offers" }).getByRole("link", { name: "Offers" }));
  await page.getByRole("table", { name: "Offers" }).getByText(OFFER).waitFor();
  await page.getByText("Opening the URL makes a test click").waitFor();
  await hand.write(page.getByLabel("User ID"), user);
  await hand.send();
  const opened = page.waitForEvent("popup");
  await hand.press(page.getByRole("link", { name: "Open it (makes a click)" }));
  const testPage = await opened;
  await heading(testPage, OFFER);
  return testPage;
}

export async function reportApproved(testPage, hand) {
  await testPage.getByRole("status").getByText("Nothing reported yet.").waitFor();
  await hand.press(testPage.getByRole("button", { name: "Report approved" }));
  await testPage.getByRole("status").getByText("Approved: the reward was paid.").waitFor();
}

/** Finds the reward in the log of the app, and reads its story. */
export async function readTestReward(page, hand, user) {
  await hand.press(page.getByRole("navigation", { name: "App", exact: true }).getByRole("link", { name: "Rewards" }));
  const row = page.getByRole("table", { name: "Rewards", exact: true }).getByRole("row").filter({ hasText: user });
  await row.getByText("Test", { exact: true }).waitFor();
  await row.getByText("HTTP 200").waitFor();
  await hand.press(row.getByRole("link"));
  await heading(page, "Reward, approved");
  await page.getByText("Test", { exact: true }).waitFor();
  await page.getByText("Your receiver answered 2xx.").waitFor();
}

/** The overview stays as if nothing had happened. */
export async function isInNoFigures(page, hand) {
  await hand.press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Overview" }));
  await heading(page, "Overview");
  await page.getByText("No numbers yet").waitFor();
  await page.getByRole("region", { name: "Go live" }).getByText("0 of 5 steps done").waitFor();
}
