// Tables: the parts that stay in sight when scrolling, the parts that a phone shows, the chosen columns, and paper.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { suite } from "./support/suite.mjs";

// A row that took 296 px on a phone, with all of its eight values.
const MAX_ROW_HEIGHT = 150;
const WIDE =
  "/dashboard/reports?by=date,app,country&metrics=revenue,ecpm,impressions,clicks,click_rate,ad_requests,fill_rate";

let cookie;
const shared = suite({}, async (signpost) => {
  cookie = await signpost.signIn();
});

const report = (page) => page.getByRole("table", { name: "Report", exact: true });
const regionOf = (table) => table.locator("xpath=..");
const boxOf = (locator) => locator.evaluate((element) => element.getBoundingClientRect().toJSON());

test("a table that is cut off shows it, and its head and first column stay in sight", async () => {
  const page = await shared.open({ cookie });
  await page.goto(WIDE);
  await page.setViewportSize({ width: 900, height: 700 });
  const region = regionOf(report(page));
  const hasShade = () => region.evaluate((element) => getComputedStyle(element, "::after").content !== "none");
  await page.waitForFunction(() => document.querySelector(".table-region.cut"));
  assert.ok(await hasShade());
  const head = report(page).locator("thead th").first();
  const name = report(page).locator("tbody:not(.totals) th").first();
  const before = { head: await boxOf(head), name: await boxOf(name) };
  await region.evaluate((element) => element.scrollTo(element.scrollWidth, 200));
  await page.waitForFunction(() => !document.querySelector(".table-region.cut"));
  assert.ok(!(await hasShade()));
  assert.deepEqual(await boxOf(head), before.head);
  assert.equal((await boxOf(name)).left, before.name.left);
  assert.equal((await boxOf(name)).top, before.name.top - 200);
  await closePage(page);
});

test("the head of a table that fits sticks to the screen", async () => {
  const page = await shared.open({ cookie });
  await page.goto("/dashboard/reports?rows=50");
  await report(page).waitFor();
  await report(page)
    .locator("tbody tr")
    .nth(20)
    .evaluate((row) => row.scrollIntoView({ block: "center" }));
  assert.equal((await boxOf(report(page).locator("thead th").first())).top, 0);
  await closePage(page);
});

test("a row on a phone is short, and says all that it says on a wide screen", async () => {
  const page = await shared.open({ cookie, width: 360 });
  await page.goto("/dashboard/apps");
  const row = page.getByRole("table", { name: "Apps" }).getByRole("row").nth(1);
  await row.waitFor();
  assert.ok((await boxOf(row)).height < MAX_ROW_HEIGHT);
  for (const label of ["App-Id", "Platform", "Currency", "Callback", "Clicks", "Blocked offers"]) {
    assert.ok(await row.locator(`[data-label="${label}"]`).isVisible(), label);
  }
  await closePage(page);
});

test("the metrics that were chosen last come back, and the address has them", async () => {
  const page = await shared.open({ cookie });
  await page.goto("/dashboard/reports");
  await page.getByRole("button", { name: /^Metrics/ }).click();
  await page.getByRole("checkbox", { name: /^eCPM/ }).check();
  await page.getByRole("checkbox", { name: /^Impressions/ }).uncheck();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("link", { name: "Reports", exact: true }).click();
  await page.waitForURL(/\/reports\?metrics=revenue,ecpm,clicks$/);
  await report(page).getByRole("button", { name: "eCPM" }).waitFor();
  assert.equal(await report(page).getByRole("button", { name: "Impressions" }).count(), 0);
  // A link decides for itself.
  await page.goto("/dashboard/reports?by=country");
  await report(page).getByRole("button", { name: "Impressions" }).waitFor();
  await closePage(page);
});

test("paper has the publisher's name and no navigation", async () => {
  const page = await shared.open({ cookie });
  await page.goto("/dashboard/reports");
  await report(page).waitFor();
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.getByText("Lumen Arcade", { exact: true }).isVisible());
  assert.ok(!(await page.locator("nav").first().isVisible()));
  await closePage(page);
});

test("a page has no heading of another before its own", async () => {
  for (const site of ["dashboard", "console"]) {
    const html = await (await fetch(`${shared.signpost.base}/${site}`)).text();
    assert.match(html, /<h1>&nbsp;<\/h1>/, site);
  }
});
