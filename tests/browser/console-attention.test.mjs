// An operator works through the list of the day: what is held comes by itself, is decided, and is gone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { answerFor, signInToConsole } from "./support/console.mjs";
import { HANDS } from "./support/hands.mjs";
import { advertiserToken, report, VISIT } from "./support/rewards.mjs";
import { attentionOf } from "./support/service.mjs";
import { suite } from "./support/suite.mjs";

let admin;
let token;
const shared = suite({ facts: false }, async (signpost) => {
  token = await advertiserToken(signpost, VISIT.advertiser);
  admin = await signInToConsole(signpost);
});

for (const Hand of HANDS) {
  test(`what is held is decided and leaves the list by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await page.goto("/console");
    await page.getByText("Nothing in this list").waitFor();
    const { transactionId } = await report(shared.signpost, token, VISIT, `open-${Hand.handName}`);
    const kinds = page.getByRole("navigation", { name: "Kinds" });
    await kinds.getByRole("link", { name: /^Held for review 1$/ }).waitFor();
    await hand.press(kinds.getByRole("link", { name: /^Held for review/ }));
    await page.waitForURL(/kind=held/);
    await hand.press(page.getByRole("link", { name: `Decide: ${transactionId}` }));
    await page.getByRole("heading", { name: "Reward, held for review" }).waitFor();
    await hand.press(page.getByRole("button", { name: "Reject…" }));
    await hand.write(page.getByRole("dialog").getByLabel("Reason"), "a click farm");
    await hand.press(page.getByRole("dialog").getByRole("button", { name: "Reject" }));
    await page.getByRole("heading", { name: "Reward, rejected" }).waitFor();
    await hand.press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Attention" }));
    await page.getByText("Nothing in this list").waitFor();
    await closePage(page);
  });
}

for (const Hand of HANDS) {
  test(`what is ticked is decided together, with its sum, by ${Hand.handName}`, async () => {
    for (const number of [1, 2]) await report(shared.signpost, token, VISIT, `ticked-${number}-${Hand.handName}`);
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await page.goto("/console?kind=held");
    await page.getByText("Select all 2 shown").waitFor();
    await hand.tick(page.getByRole("checkbox", { name: "Select all 2 shown" }));
    const sum = await page.getByText(/^2 rewards, \$[0-9.]+ in all$/).innerText();
    await hand.tick(page.getByRole("checkbox", { name: /^Select [0-9a-f]{8}-/ }).first(), false);
    const half = await page.getByText(/^1 reward, \$[0-9.]+ in all$/).innerText();
    const dollars = (text) => Number(/\$([0-9.]+)/.exec(text)[1]);
    assert.equal(dollars(sum).toFixed(2), (2 * dollars(half)).toFixed(2));
    await hand.tick(page.getByRole("checkbox", { name: "Select all 2 shown" }));
    await hand.press(page.getByRole("button", { name: "Approve…", exact: true }));
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`2 rewards of 1 app, $${dollars(sum).toFixed(2)} in all.`).waitFor();
    await hand.write(dialog.getByLabel("Reason"), "real players");
    await hand.press(dialog.getByRole("button", { name: /^Approve 2 rewards, \$/ }));
    const result = dialog.getByRole("heading", { name: /^2 rewards were approved, \$/ });
    await result.waitFor();
    await page.getByText("Nothing is open under “Held for review”.").waitFor({ state: "attached" });
    assert.ok(await result.isVisible(), "the result stays while the list changes");
    await hand.press(dialog.getByRole("button", { name: "Done" }));
    assert.equal(await dialog.count(), 0);
    await closePage(page);
  });
}

const NEARLY_FULL = { kind: "near_limit", app_id: null, publisher_id: null, reason: "", bytes: 8.5e9 };

test("apps beyond the first hundred have their names, and items lead to their app or offer", async () => {
  const page = await shared.open({ cookie: admin });
  // The real server returns pages of one app instead of a hundred.
  await page.route(/\/v1\/operator\/apps\?/, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set("limit", "1");
    return route.continue({ url: url.href });
  });
  // No store fills up within a test.
  const items = [2, 3].map((outbox) => ({
    ...NEARLY_FULL,
    subject: `outbox-10000003-${outbox}`,
    since_ms: Date.now(),
  }));
  const lost = { kind: "terms_lost", app_id: "10000003", publisher_id: "lumen-arcade", reason: "terms_lost" };
  for (const subject of ["offer 23817 1795706999", "app 1795706999"]) {
    items.push({ ...lost, subject, since_ms: Date.now() });
  }
  const counts = {
    held: 0,
    capped: 0,
    dead: 0,
    disabled: 0,
    failing: 0,
    near_limit: 2,
    batch_refused: 0,
    batch_late: 0,
    differs: 0,
    unconfirmed: 0,
    terms_lost: 2,
  };
  await answerFor(page, "GET", "attention", { json: { items, counts, not_listed: {}, behind_ms: 0, cursor: null } });
  await page.goto("/console");
  const { name } = await shared.signpost.operator("GET", "/apps/10000003");
  const list = page.getByRole("table", { name: "Open items" });
  await list.getByRole("link", { name, exact: true }).first().waitFor();
  const link = list.getByRole("link", { name: "See the app: outbox-10000003-2" });
  assert.equal(await link.getAttribute("href"), "/console/apps/10000003");
  for (const [subject, path] of [
    ["offer 23817 1795706999", "/console/offers/23817"],
    ["app 1795706999", "/console/apps/10000003"],
  ]) {
    const terms = list.getByRole("link", { name: `See the terms: ${subject}` });
    assert.equal(await terms.getAttribute("href"), path);
  }
  await page.waitForTimeout(6000);
  const asked = page.requests.filter((request) => request === "GET /v1/operator/apps/10000003");
  assert.equal(asked.length, 1, "a name is asked for once, however often the list is");
  await closePage(page);
});

test("a day that is final and unconfirmed leads to the facts of its publisher", async () => {
  const page = await shared.open({ cookie: admin });
  const day = { kind: "unconfirmed", app_id: null, subject: "2026-11-17", since_ms: Date.now(), reason: "silent" };
  await attentionOf(
    page,
    [
      { ...day, publisher_id: "kite" },
      { ...day, publisher_id: "lumen-arcade", reason: "differs" },
      // A counters object's item has no publisher, because the object counts for all of them.
      { ...day, kind: "differs", publisher_id: null, subject: "panels: 2026-11-17", reason: "ledger_behind" },
    ],
    { counts: { unconfirmed: 2, differs: 1 } },
  );
  await page.goto("/console");
  const list = page.getByRole("table", { name: "Open items" });
  for (const [subject, publisher, reason] of [
    ["kite, 17 Nov 2026", "kite", "A source has not confirmed its clicks or revenue of the day."],
    ["lumen-arcade, 17 Nov 2026", "lumen-arcade", "A source has other totals than the reports."],
    ["panels: 2026-11-17", "panels", "The totals of the reports are lower than those of the log."],
  ]) {
    const row = list.getByRole("row").filter({ has: page.getByRole("link", { name: publisher, exact: true }) });
    await row.getByText(reason).waitFor();
    const repair = row.getByRole("link", { name: `See the facts: ${subject}` });
    assert.equal(await repair.getAttribute("href"), `/console/publishers/${publisher}?section=facts`);
  }
  await page.getByRole("link", { name: /^Day final, unconfirmed 2$/ }).click();
  await page.getByText("names a source that does not answer").waitFor();
  await list.getByText("The totals of the reports are lower than those of the log.").waitFor({ state: "detached" });
  await list
    .getByRole("link", { name: /^See the facts/ })
    .first()
    .waitFor();
  assert.equal(await list.getByRole("link", { name: /^See the facts/ }).count(), 2);
  await list.getByRole("link", { name: "See the facts: lumen-arcade, 17 Nov 2026" }).click();
  await page.getByRole("heading", { name: "Facts", exact: true }).waitFor();
  await closePage(page);
});
