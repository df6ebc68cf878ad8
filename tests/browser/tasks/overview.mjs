// The overview: its numbers, its chart read day by day, and the ways on to the reports.

import assert from "node:assert/strict";

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
  await hand.press(page.getByRole("button", { name: "Show as chart" }));

  await hand.press(page.getByRole("link", { name: "Open as a report: Top countries" }));
  await page.getByRole("table", { name: "Report", exact: true }).waitFor();
  assert.equal(new URL(page.url()).search, "?by=country&sort=-revenue");
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  await page.goBack();
  await page.locator(".tile-value").first().waitFor();
}
