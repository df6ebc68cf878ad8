// The way back from a page to the list it was opened from: the list has the same rows, at the same place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, WIDTHS } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { advertiserToken, earn } from "./support/rewards.mjs";
import { suite } from "./support/suite.mjs";

const MOST_PIXELS = 2;
const PUBLISHERS = 120;

let cookie;
const shared = suite({ facts: false }, async (signpost) => {
  cookie = await signInToConsole(signpost);
  const lines = Array.from({ length: PUBLISHERS }, (_, at) =>
    JSON.stringify({ kind: "publisher", id: `studio-${at}`, name: `Studio ${at}`, approved: false }),
  );
  const headers = { "Content-Type": "application/x-ndjson" };
  await signpost.operator("POST", "/import", lines.join("\n"), headers);
});

/** Opens the last row, and goes back to it. */
async function comeBack(page, more) {
  const rows = page.locator("main tbody tr");
  const before = await rows.count();
  await page.getByRole("button", { name: more }).click();
  await page.waitForFunction((number) => document.querySelectorAll("main tbody tr").length > number, before);
  const all = await rows.count();
  const link = rows.last().getByRole("link").first();
  await link.scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  assert.ok(place > 1000, String(place));
  await link.click();
  await rows.nth(before).waitFor({ state: "detached" });
  assert.ok((await page.evaluate(() => scrollY)) < 100, "the page that was opened starts at its top");
  await page.goBack();
  await page.waitForFunction((number) => document.querySelectorAll("main tbody tr").length === number, all);
  await page.waitForFunction(([place, most]) => Math.abs(scrollY - place) <= most, [place, MOST_PIXELS]);
}

for (const width of WIDTHS) {
  test(`the way back to a list leads to the same place at ${width} px`, async () => {
    const page = await shared.open({ width, cookie });
    await page.goto("/console/publishers");
    await page.locator("main tbody tr").first().waitFor();
    await comeBack(page, "Load more");
    // A link to the list starts at its top, with its first page.
    await page.getByRole("link", { name: "Offers", exact: true }).click();
    await page.getByRole("link", { name: "Publishers", exact: true }).click();
    await page.getByRole("button", { name: "Load more" }).waitFor();
    assert.equal(await page.evaluate(() => scrollY), 0);
    await closePage(page);
  });
}

test("the way back to the rewards leads to the same place", async () => {
  const owner = await shared.signpost.signIn();
  await earn(shared.signpost, await advertiserToken(shared.signpost), "player-of-the-way-back");
  const newest = () => shared.signpost.dashboard(owner, "POST", "/rewards", { limit: 1 });
  let real = await newest();
  while (real.rows.length === 0) real = await newest();
  const rows = (from) =>
    Array.from({ length: 50 }, (_, at) => ({
      ...real.rows[0],
      transaction_id: `row-${from + at}`,
      conversion_ts: real.rows[0].conversion_ts - from - at,
    }));
  const page = await shared.open({ cookie: owner, refusals: [[404, /\/rewards\/row-/]] });
  await page.route("**/v1/dashboard/rewards", (route) => {
    const { cursor, after } = route.request().postDataJSON();
    const from = Number(cursor ?? 0);
    const json = after ? { ...real, rows: [], cursor: null } : { ...real, rows: rows(from), cursor: String(from + 50) };
    return route.fulfill({ json });
  });
  await page.goto("/dashboard/rewards");
  await page.locator("main tbody tr").first().waitFor();
  await comeBack(page, "Show older rewards");
  await closePage(page);
});

test("a form that is left leaves the place of its list alone", async () => {
  const page = await shared.open({ cookie });
  await page.goto("/console/publishers");
  const rows = page.locator("main tbody tr");
  await rows.nth(40).scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  assert.ok(place > 1000, String(place));
  await page.evaluate(() => {
    const link = document.createElement("a");
    link.href = "/console/offers/23990";
    document.querySelector("main").append(link);
    link.click();
  });
  await page.getByLabel("Name", { exact: true }).fill("Another name");
  await page.evaluate(() => scrollTo(0, 300));
  await page.goBack();
  await page.getByRole("button", { name: "Leave" }).click();
  await rows.nth(40).waitFor();
  await page.waitForFunction(([place, most]) => Math.abs(scrollY - place) <= most, [place, MOST_PIXELS]);
  await closePage(page);
});

test("a link to a state of the same page loads nothing", async () => {
  const page = await shared.open({ cookie });
  await page.goto("/console/publishers?state=waiting");
  await page.locator("main tbody tr").first().waitFor();
  await page.evaluate(() => (window.isSame = true));
  await page.keyboard.press("Control+k");
  await page.keyboard.type("new publ");
  await page.getByRole("search").getByRole("link", { name: "New publisher", exact: true }).click();
  await page.getByRole("dialog", { name: "Create a publisher" }).waitFor();
  assert.equal(await page.evaluate(() => window.isSame), true);
  await closePage(page);
});

test("the way back shows another account nothing of the log of the one before", async () => {
  const { signpost } = shared;
  const otter = await signpost.addPublisher("Otter Works");
  const held = await signpost.signIn(otter);
  const both = await signpost.signIn(undefined, undefined, undefined, held);
  const page = await shared.open({ cookie: both });
  // The answer for the other account never comes.
  await page.route("**/v1/dashboard/rewards", (route) =>
    route.request().headers()["x-publisher"] === otter ? undefined : route.fallback(),
  );
  await page.goto("/dashboard/rewards");
  await page.locator("main tbody tr").getByText("player-of-the-way-back").first().waitFor();
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("list", { name: "Accounts" }).getByRole("button", { name: "Otter Works" }).click();
  await page.getByRole("heading", { name: "Overview", exact: true }).waitFor();
  await page.goBack();
  await page.locator(".skeleton").first().waitFor();
  assert.equal(await page.getByText("player-of-the-way-back").count(), 0);
  await closePage(page);
});
