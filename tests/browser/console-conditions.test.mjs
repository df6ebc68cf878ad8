// Two admins change one document: each sees the other's change before overwriting it. And a browser whose clock is
// wrong.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { HANDS } from "./support/hands.mjs";
import { suite } from "./support/suite.mjs";
import { said, suspend } from "./tasks/console-publishers.mjs";
import { switchOff } from "./tasks/console-offers.mjs";

let admins;
const shared = suite({ facts: false }, async (signpost) => {
  admins = [await signInToConsole(signpost), await signInToConsole(signpost, "admin", "Ida Berg")];
});

const [Hand] = HANDS;
const HOUR = 3_600_000;
const dialog = (page) => page.getByRole("dialog");
const inDialog = (page, name) => dialog(page).getByRole("button", { name, exact: true });

/** Both admins with the page at `path` open, before either changes anything. The second one's writes may be refused. */
async function openTwice(path, refusedPath) {
  const pages = [
    await shared.open({ cookie: admins[0] }),
    await shared.open({ cookie: admins[1], refusals: [[412, refusedPath]] }),
  ];
  for (const page of pages) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForFunction(() => !document.querySelector(".skeleton"));
  }
  return pages.map((page) => ({ page, hand: new Hand(page) }));
}

/** Sees what the other has changed. */
async function learn(within, loaded) {
  await within.getByText("Somebody else changed this").waitFor();
  await within.getByText(loaded).waitFor();
}

test("an admin does not undo what another has done to a publisher", async () => {
  const { signpost } = shared;
  const id = await signpost.addPublisher("Heron Works");
  const path = `/console/publishers/${id}`;
  const [first, second] = await openTwice(path, `/v1/operator/publishers/${id}`);
  await suspend(first.page, first.hand, "Heron Works");

  await second.hand.press(second.page.getByRole("button", { name: "Edit" }));
  await second.hand.write(dialog(second.page).getByLabel("Apps it may set up by itself"), "7");
  await second.hand.press(inDialog(second.page, "Save"));
  await learn(dialog(second.page), "what you typed is still here");
  await second.hand.press(inDialog(second.page, "Save"));
  await said(second.page, "Saved.");
  const kept = await signpost.operator("GET", `/publishers/${id}`);
  assert.deepEqual([kept.approved, kept.max_apps], [false, 7]);

  // If an admin decides in spite of another's change, the other's change stays.
  await first.page.reload();
  await first.hand.press(first.page.getByRole("button", { name: "Edit" }));
  await dialog(first.page).getByLabel("Apps it may set up by itself").fill("9");
  await first.hand.press(inDialog(first.page, "Save"));
  await first.page.getByText("It may set up 9 apps by itself.").waitFor();
  await second.hand.press(second.page.getByRole("button", { name: "Approve" }));
  await second.hand.press(inDialog(second.page, "Approve"));
  await learn(dialog(second.page), "check that you still want this.");
  await second.hand.press(inDialog(second.page, "Approve"));
  await said(second.page, "Heron Works was approved.");
  assert.deepEqual(await signpost.operator("GET", `/publishers/${id}`), { ...kept, approved: true, max_apps: 9 });
  for (const { page } of [first, second]) await closePage(page);
});

test("an admin does not undo what another has done to an offer", async () => {
  const { signpost } = shared;
  const call = "/offers/23990";
  const { offer_id, terms_revision, updated_at, ...document } = await signpost.operator("GET", call);
  const goals = document.goals.map((goal) => ({ ...goal, payout_usd: goal.payout_usd + 1 }));
  await signpost.operator("PUT", call, { ...document, goals });
  const [first, second] = await openTwice(`/console${call}`, `/v1/operator${call}`);
  await switchOff(first.page, first.hand, document.name);

  const { page, hand } = second;
  await hand.press(page.getByRole("button", { name: "Pay clicks", exact: false }));
  await hand.press(inDialog(page, "Pay them under current terms"));
  await learn(dialog(page), "check that you still want this.");
  await page.locator(".heading").getByText("Switched off").waitFor();
  await hand.press(inDialog(page, "Pay them under current terms"));
  await said(page, "Clicks made before now are paid under the current terms.");
  const kept = await signpost.operator("GET", call);
  assert.equal(kept.active, false);
  assert.ok(kept.terms_since > 0);

  // Both switch it on: the second finds it done.
  await first.page.reload();
  await hand.press(page.getByRole("button", { name: "Switch on", exact: true }));
  await first.hand.press(first.page.getByRole("button", { name: "Switch on", exact: true }));
  await first.hand.press(inDialog(first.page, "Switch on"));
  await said(first.page, "The offer is switched on");
  await hand.press(inDialog(page, "Switch on"));
  await dialog(page).waitFor({ state: "detached" });
  assert.equal((await signpost.operator("GET", call)).active, true);
  for (const one of [first, second]) await closePage(one.page);
});

test("an admin does not undo what another has done to an app", async () => {
  const { signpost } = shared;
  const call = "/apps/10000001";
  const [first, second] = await openTwice(`/console${call}`, `/v1/operator${call}`);
  const decisions = first.page.getByRole("region", { name: "Your settings for this app", exact: true });
  await first.hand.write(decisions.getByLabel("Rewards per user per day"), "40");
  await first.hand.press(decisions.getByRole("button", { name: "Save", exact: true }));
  await first.hand.press(inDialog(first.page, "Save the changes"));
  await said(first.page, "Saved.");

  const { page, hand } = second;
  await hand.press(page.getByRole("button", { name: "Pay clicks before now under current terms" }));
  await hand.press(inDialog(page, "Pay them under current terms"));
  await learn(dialog(page), "check that you still want this.");
  await hand.press(inDialog(page, "Pay them under current terms"));
  await page.getByText(/^Clicks made before \d.* are paid under the current terms/).waitFor();
  const kept = await signpost.operator("GET", call);
  assert.equal(kept.max_rewards_per_user_day, 40);
  assert.ok(kept.terms_since > 0);

  // A change of another field counts, too: the write replaces the whole document.
  await putApp(signpost, "10000001", { name: "Lumen Arcade Two" });
  const typed = page.getByRole("region", { name: "Your settings for this app", exact: true });
  await hand.write(typed.getByLabel("Ports for its callback, besides 443"), "8443");
  await hand.press(typed.getByRole("button", { name: "Save", exact: true }));
  await hand.press(inDialog(page, "Save the changes"));
  await learn(typed, "what you typed is still here");
  await hand.press(typed.getByRole("button", { name: "Save", exact: true }));
  await hand.press(inDialog(page, "Save the changes"));
  await said(page, "Saved.");
  const last = await signpost.operator("GET", call);
  assert.deepEqual([last.name, last.callback_ports], ["Lumen Arcade Two", [8443]]);
  for (const one of [first, second]) await closePage(one.page);
});

for (const hours of [-3, 3]) {
  test(`a browser whose clock is wrong by ${hours} hours pays clicks up to the server's time`, async () => {
    const { signpost } = shared;
    const call = "/apps/10000002";
    const page = await shared.open({ cookie: admins[0] });
    const hand = new Hand(page);
    await page.addInitScript((wrong) => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + wrong;
    }, hours * HOUR);
    await page.goto(`/console${call}`);
    await hand.press(page.getByRole("button", { name: "Pay clicks before now under current terms" }));
    await hand.press(inDialog(page, "Pay them under current terms"));
    await page.getByText(/^Clicks made before \d.* are paid under the current terms/).waitFor();
    const { terms_since } = await signpost.operator("GET", call);
    assert.ok(Math.abs(terms_since - Date.now() / 1000) < HOUR / 2000, String(terms_since));
    await closePage(page);
  });
}

async function putApp(signpost, appId, change) {
  const { app_id, terms_revision, ...document } = await signpost.operator("GET", `/apps/${appId}`);
  await signpost.operator("PUT", `/apps/${appId}`, { ...document, ...change });
}
