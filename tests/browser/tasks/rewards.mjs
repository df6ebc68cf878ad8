// Rewards: the log as it changes, one reward's story, and callbacks that are sent again.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const FAILING_ENDPOINT_MILLISECONDS = 75_000;

const log = (page) => page.getByRole("table", { name: "Rewards", exact: true });
const rowOf = (page, user) => log(page).getByRole("row").filter({ hasText: user });
const inDialog = (page, name) => page.getByRole("dialog").getByRole("button", { name, exact: true });

export async function openLog(page, hand) {
  await page.goto("/dashboard");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await hand.press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Rewards", exact: true }));
  await page.getByText(/^(Live|Behind by .*)$/).waitFor();
}

/** A reward appears by itself, and its row changes by itself. */
export async function watchReward(page, user, earn) {
  assert.equal(await rowOf(page, user).count(), 0);
  const transactionId = await earn();
  await rowOf(page, user).getByText("Approved").waitFor();
  await rowOf(page, user).getByText("HTTP 500").waitFor();
  return transactionId;
}

/** Ids stand in no query of the address. */
export async function filterByUser(page, hand, appName, user) {
  await hand.choose(page.getByLabel("App", { exact: true }), appName);
  await hand.press(page.locator("summary", { hasText: "More filters" }));
  await hand.write(page.getByLabel("User ID"), user);
  await hand.press(page.getByRole("button", { name: "Search" }));
  await page.waitForURL(/#user=/);
  const { search } = new URL(page.url());
  assert.ok(search.includes("app=") && !search.includes(user), search);
  await page.waitForFunction(() => document.querySelectorAll("main tbody tr").length === 1);
  await hand.press(page.getByRole("button", { name: "Conversions (UTC): Any time" }));
  await hand.press(page.getByRole("button", { name: "Today", exact: true }));
  const today = new Date().toISOString().slice(0, 10);
  await page.waitForURL(new RegExp(`[?&]from=${today}&to=${today}`));
  await page.waitForFunction(() => document.querySelectorAll("main tbody tr").length === 1);
}

/** Reads a reward's story from the log, and sends its callback again once the receiver works. */
export async function replayFromStory(page, hand, { user, transactionId, repair }) {
  await hand.press(rowOf(page, user).getByRole("link"));
  await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
  await page.getByText(transactionId).first().waitFor();
  await page.getByText("The user clicked the offer.").waitFor();
  await page
    .getByText(/was sent: HTTP 500\.$/)
    .first()
    .waitFor();
  await hand.press(page.locator("summary", { hasText: "What is sent" }));
  await page.getByText("c1: level-7").waitFor();
  await repair();
  await hand.press(page.getByRole("button", { name: "Send it again" }));
  await hand.press(inDialog(page, "Send it again"));
  await page.getByText("It is queued to be sent again.").waitFor({ state: "attached" });
  await page.getByText(/was sent: HTTP 200\.$/).waitFor();
  await page.getByText("Your receiver answered 2xx.").waitFor();
}

/** A reward arrives by itself. Its story ends well, and its callback is sent once more. */
export async function followReward(page, hand, user, earn) {
  await openLog(page, hand);
  await earn();
  await rowOf(page, user).getByText("HTTP 200").waitFor();
  await hand.press(rowOf(page, user).getByRole("link"));
  await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
  await page.getByText("The user clicked the offer.").waitFor();
  await page.getByText("Your receiver answered 2xx.").waitFor();
  await hand.press(page.getByRole("button", { name: "Send it again" }));
  await hand.press(inDialog(page, "Send it again"));
  await page.getByText("It is queued to be sent again.").waitFor({ state: "attached" });
  await page.waitForFunction(() => document.querySelectorAll("main tbody tr").length === 2);
}

/** While it is paused, the log stays as it is. */
export async function pauseLog(page, hand, user, earn) {
  await hand.press(page.getByRole("button", { name: "Pause" }));
  await page.getByText("Paused", { exact: true }).waitFor();
  await earn();
  const calls = page.requests.length;
  await page.waitForTimeout(3000);
  assert.equal(page.requests.length, calls, "nothing is asked for");
  await hand.press(page.getByRole("button", { name: "Resume" }));
  await rowOf(page, user).waitFor();
}

/** Finds that a receiver switched its callback off, and switches it on once the receiver works. */
export async function switchOnAgain(page, hand, { appName, user, repair }) {
  await page.goto("/dashboard");
  const health = page.getByRole("table", { name: "Callback health" });
  await health.getByText("Switched off").waitFor();
  await hand.press(health.getByRole("link", { name: `Switch on again: ${appName}` }));
  await page.getByText(/^Callbacks have been switched off since /).waitFor();
  await repair();
  const button = page.getByRole("button", { name: "Switch on again" });
  await hand.press(button);
  await button.waitFor({ state: "detached" });
  await page.goto("/dashboard/rewards");
  await rowOf(page, user).getByText("HTTP 200").waitFor({ timeout: FAILING_ENDPOINT_MILLISECONDS });
}

/** Sends a user's callbacks that wait, once the receiver works again: what the log shows, and no others. */
export async function replayMany(page, hand, { app, user, earn, repair }) {
  await page.goto(`/dashboard/rewards?app=${app}&delivery=waiting&status=500#${new URLSearchParams({ user })}`);
  await page.getByText(/^(Live|Behind by .*)$/).waitFor();
  await earn();
  await rowOf(page, user).getByText("HTTP 500").waitFor({ timeout: FAILING_ENDPOINT_MILLISECONDS });
  await hand.press(page.getByRole("button", { name: "Send callbacks again" }));
  const dialog = page.getByRole("dialog");
  assert.ok(await dialog.getByRole("radio", { name: /^Waiting/ }).isChecked(), "it begins with what the log shows");
  await dialog.getByText(`Only those that match the list’s filters: HTTP status 500, User ID ${user}.`).waitFor();
  const send = dialog.getByRole("button", { name: "Send 1 callback again", exact: true });
  await send.waitFor();
  await repair();
  await hand.press(send);
  await page.getByText(/(callback was|callbacks were) queued to be sent again\.$/).waitFor();
  await hand.press(page.getByRole("button", { name: "Close" }));
  // An endpoint that failed several times gets one callback at a time, up to 30 seconds apart, until it answers well.
  await rowOf(page, user).waitFor({ state: "detached", timeout: FAILING_ENDPOINT_MILLISECONDS });
}

/** A receiver's answer is only text: it makes no element, runs nothing, and does not reverse the text beside it. */
export async function readInertAnswer(page, { app, transactionId, answer }) {
  await page.goto(`/dashboard/apps/${app}/rewards/${transactionId}`);
  const shown = page.locator(".answer-text").first();
  await shown.waitFor();
  assert.equal(await shown.textContent(), answer);
  assert.equal(await shown.evaluate((element) => element.children.length), 0);
  assert.equal(await page.evaluate(() => window.isOwned), undefined);
  assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
  const direction = await shown.evaluate((element) => getComputedStyle(element).unicodeBidi);
  assert.equal(direction, "isolate");
  // The time of the try stands before its answer, and the row is no wider than its table.
  const row = page.getByRole("row").filter({ has: shown });
  assert.match(await row.innerText(), /^\d{1,2} \w{3} \d{4}, \d{2}:\d{2}:\d{2} UTC/);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing overflows");
}

/** Downloads what is stored of a user; returns it. No address names the user. */
export async function downloadUser(page, hand, user) {
  await hand.press(page.getByRole("button", { name: "A user's data" }));
  await hand.write(page.getByRole("dialog").getByLabel("User ID"), user);
  const download = page.waitForEvent("download");
  await hand.press(inDialog(page, "Download"));
  const file = await download;
  assert.equal(file.suggestedFilename(), `user-${user}.json`);
  await page.getByRole("dialog").getByText("The file has 1 reward.").waitFor();
  return JSON.parse(await readFile(await file.path(), "utf8"));
}

/** Erases the user whose data the dialog shows. Escape leads back from the question. */
export async function eraseUser(page, hand, user, result) {
  const question = page.getByRole("dialog", { name: `Erase ${user}?` });
  await hand.press(inDialog(page, "Erase"));
  await question.getByText(/cannot be undone/).waitFor();
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  assert.equal(await page.getByRole("dialog").getByLabel("User ID").inputValue(), user);
  await hand.press(inDialog(page, "Erase"));
  await hand.press(inDialog(page, "Erase the user"));
  await page.getByRole("dialog", { name: result.title }).getByText(result.text).waitFor();
  await hand.press(inDialog(page, "Done"));
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.ok(!page.requests.join().includes(user), "no address names a user");
  const opener = page.getByRole("button", { name: "A user's data" });
  assert.ok(await opener.evaluate((button) => button === document.activeElement), "the focus is where it was");
}
