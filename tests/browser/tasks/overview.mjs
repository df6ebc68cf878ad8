// The overview: its numbers, its chart read day by day, and the ways on to the reports.

import assert from "node:assert/strict";
import { call } from "../support/passkeys.mjs";

export async function readOverview(page, hand) {
  await page.goto("/dashboard");
  await page.locator(".tile-value").first().waitFor();
  assert.equal(await page.locator(".tiles").first().locator(".tile").count(), 5);
  await page.getByText("Rewards approved").waitFor();
  await page.getByRole("heading", { name: "Callback health" }).waitFor();
  assert.equal(await page.title(), "Overview · Lumen Arcade · Signpost");
  assert.equal(
    page.requests.filter((request) => request === "GET /v1/dashboard/overview").length,
    1,
    "the preload is the only call for the overview",
  );
  await page.getByText(/Data through .* UTC/).waitFor({ state: "attached" });

  const chart = page.getByRole("application", { name: /^Revenue by day/ });
  assert.match(await hand.lastDay(chart), /not complete/);

  await hand.tick(page.getByRole("radio", { name: "Impressions" }));
  await page.getByRole("heading", { name: "Impressions by day" }).waitFor();
  await hand.press(page.getByRole("button", { name: "Show as table" }));
  const table = page.getByRole("table", { name: "Impressions by day" });
  await table.waitFor();
  assert.equal(await table.locator("tbody tr").count(), 31, "30 complete days and today");
  await hand.press(page.getByRole("button", { name: /^Last 30 days/ }));
  await hand.press(page.getByRole("button", { name: "Last 7 days", exact: true }));
  await page.waitForURL(/[?]range=last_7$/);
  await page.getByText("vs 1 week before").first().waitFor();
  assert.equal(await table.locator("tbody tr").count(), 8, "7 complete days and today");
  await hand.press(page.getByRole("button", { name: "Show as chart" }));
  await numbersAreTheReports(page);

  await hand.press(page.getByRole("link", { name: "Open as a report: Top countries" }));
  await page.getByRole("table", { name: "Report", exact: true }).waitFor();
  assert.equal(new URL(page.url()).search, "?by=country&sort=-revenue&compare=1&range=last_7");
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  await page.goBack();
  await page.locator(".tile-value").first().waitFor();
  assert.equal(new URL(page.url()).search, "?range=last_7");
}

/** The revenue of the tile, and its change, are those of the same dates' reports. */
async function numbersAreTheReports(page) {
  const revenueOf = (from, to) => ({
    date_range: { start_date: daysAgo(from), end_date: daysAgo(to) },
    dimensions: ["date"],
    metrics: ["revenue"],
    totals: true,
  });
  const asked = await call(page, "POST", "/reports", { queries: [revenueOf(7, 1), revenueOf(14, 8)] });
  const [now, before] = asked.body.results.map((result) => result.totals.revenue);
  const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
  const tile = page.locator(".tile", { hasText: "Revenue" }).first();
  const text = await tile.innerText();
  assert.ok(text.includes(money.format(now)), `${text}: ${now}`);
  const change = Math.round(((now - before) / before) * 1000) / 10;
  assert.ok(text.includes(`${Math.abs(change).toFixed(1)}%`), `${text}: ${now} after ${before}`);
}

const daysAgo = (days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
