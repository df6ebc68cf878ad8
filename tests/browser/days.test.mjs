// From a figure to its rows: a day of the report, its apps, an app's offers, and the rewards of an offer add up. And
// changes of final days: what changed, by how much and why.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { addDays, today } from "./support/facts.mjs";
import { ADDED, changeFinalDay, makeDaysFinal } from "./support/final-days.mjs";
import { WAYS } from "./support/hands.mjs";
import { advertiserToken, APP, earn, OFFER } from "./support/rewards.mjs";
import { suite } from "./support/suite.mjs";

const APP_NAME = "Lumen Arcade for Android";
const REWARDS = 3;
const paid = [];
let finalDay;
const shared = suite({}, async (signpost) => {
  const token = await advertiserToken(signpost);
  for (let user = 0; user < REWARDS; user += 1) paid.push(await earn(signpost, token, `player-${user}`));
  finalDay = await makeDaysFinal(signpost);
  const cookie = await signpost.signIn();
  for (let attempt = 0; ; attempt += 1) {
    const { offers } = await signpost.dashboard(cookie, "GET", `/apps/${APP}/days/${today()}`);
    if (offers.length === 1 && offers[0].rewards === REWARDS && offers[0].reason === null) break;
    assert.ok(attempt < 100, JSON.stringify(offers));
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
});

/** An amount of the page in cents. */
const cents = (text) => Math.round(Number(/-?\$[\d,.]+/.exec(text)[0].replace(/[$,]/g, "")) * 100);

/** The amounts of a column: those of the rows, and the total. */
async function amounts(page, table, column) {
  const region = page.getByRole("table", { name: table, exact: true });
  await region.waitFor();
  await page.waitForFunction(() => !document.querySelector(".skeleton, [aria-busy=true]"));
  const heads = await region.locator("thead th").allInnerTexts();
  const at = heads.findIndex((head) => head.trim() === column);
  assert.ok(at >= 0, `${column} of ${heads}`);
  const cells = (rows) => rows.locator(`:nth-match(th, 1), td`).allInnerTexts();
  const rows = [];
  for (const row of await region.locator("tbody:not(.totals) tr").all()) rows.push(cents((await cells(row))[at]));
  const totals = region.locator("tbody.totals tr");
  return { rows, total: (await totals.count()) > 0 ? cents((await cells(totals))[at]) : null };
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
/** Each amount is rounded to a cent by itself. */
const addUp = ({ rows, total }) => assert.ok(Math.abs(sum(rows) - total) <= rows.length, `${rows} and ${total}`);

for (const [Hand, width] of WAYS) {
  test(`a figure leads to its rewards by ${Hand.handName} at ${width} px`, async () => {
    const page = await shared.open({ width, cookie: await shared.signpost.signIn(undefined, "analyst") });
    const hand = new Hand(page);
    await page.goto(`/dashboard/reports?range=${finalDay}_${today()}`);
    const report = await amounts(page, "Report", "Revenue");
    addUp(report);
    await page.getByText("not complete").waitFor();
    // For some time after midnight yesterday is not final yet.
    const isNewest = addDays(finalDay, 1) === today();
    assert.equal((await page.getByText("not final").count()) === 0, isNewest);
    const day = page.getByRole("table", { name: "Report", exact: true }).locator("tbody:not(.totals) a").first();
    await hand.press(day);
    await page.waitForURL(new RegExp(`/dashboard/days/${today()}$`));
    await page.getByText("Not final yet: these figures can still change.").waitFor();

    const apps = await amounts(page, "Revenue by app", "Revenue");
    addUp(apps);
    assert.equal(apps.total, report.rows[0]);
    await hand.press(page.getByRole("link", { name: APP_NAME }));
    await page.getByRole("heading", { name: APP_NAME, level: 1 }).waitFor();
    const sources = await amounts(page, "Revenue by demand source", "Revenue");
    addUp(sources);
    assert.ok(apps.rows.includes(sources.total), `${sources.total} of ${apps.rows}`);

    const offers = await amounts(page, "Offerwall by offer", "Revenue");
    assert.ok(sources.rows.includes(offers.rows[0]), `${offers.rows} of ${sources.rows}`);
    await hand.press(page.getByRole("link", { name: OFFER, exact: true }));
    const rewards = await amounts(page, "Rewards and reversals", "Amount");
    assert.equal(rewards.rows.length, REWARDS);
    assert.deepEqual([sum(rewards.rows), rewards.total], [offers.rows[0], offers.rows[0]]);
    await page.getByText(/^Revenue in reports: (\S+)\. Rewards less reversals: \1\./).waitFor();

    const first = page.getByRole("table", { name: "Rewards and reversals" }).locator("tbody:not(.totals) a").first();
    await hand.press(first);
    await page.waitForURL(new RegExp(`/rewards/(${paid.join("|")})$`));
    await page.goBack();
    await hand.press(page.getByRole("navigation", { name: "Levels above" }).getByRole("link", { name: APP_NAME }));
    await page.getByRole("table", { name: "Offerwall by offer" }).waitFor();
    await closePage(page);
  });
}

test("an address with a wrong day, app or offer says so", async () => {
  const page = await shared.open({ cookie: await shared.signpost.signIn(), refusals: [[404, /99999999/]] });
  await page.goto("/dashboard/days/2026-02-30");
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await page.goto("/dashboard/days/2020-01-05");
  await page.getByText("Nothing was counted on this day.").waitFor();
  await page.goto(`/dashboard/days/${today()}?app=99999999`);
  await page.getByText("App not found").waitFor();
  await page.goto(`/dashboard/days/${today()}?app=${APP}&offer=none`);
  await page.getByText("No reward of this offer was approved or reversed on this day.").waitFor();
  await closePage(page);
});

test("a changed final day is shown with its difference and its reason", async () => {
  const { signpost } = shared;
  const page = await shared.open({ cookie: await signpost.signIn() });
  await page.goto("/dashboard/reports");
  await page.getByRole("link", { name: "Changed days" }).click();
  await page.getByText("No final day has changed", { exact: true }).waitFor();
  await changeFinalDay(signpost, finalDay);
  await page.reload();
  const table = page.getByRole("table", { name: "Changed days" });
  await table.waitFor();
  const rows = await table.locator("tbody tr").allInnerTexts();
  assert.equal(rows.length, ADDED.length);
  // The newest first.
  const has = (row, ...texts) => {
    for (const text of texts) assert.ok(row.includes(text), `${text} in ${row}`);
  };
  has(rows[0], "Lumen Arcade for iOS", "was $", "−$0.75", "Ad figures were added", "Clicks +1");
  has(rows[1], "Lumen Arcade for Android", "was $", "+$3.25", "Impressions +350, Clicks +12");
  await table.getByRole("link").first().click();
  await page.waitForURL(new RegExp(`/dashboard/days/${finalDay}\\?app=10000002$`));
  await page.getByText("These figures are final.").waitFor();
  await closePage(page);
});
