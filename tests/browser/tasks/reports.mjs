// A report: what it is about, its order and pages, its chart, and the ways to hand it on.

import assert from "node:assert/strict";

const tableOf = (page) => page.getByRole("table", { name: "Report", exact: true });
const rowsAre = (page, title) => page.getByRole("heading", { name: title, exact: true }).waitFor();
const sortedBy = (page, column, order) => page.locator(`th[aria-sort=${order}]`, { hasText: column }).waitFor();

export async function buildReport(page, hand) {
  await page.goto("/dashboard");
  await page.locator(".tile-value").first().waitFor();
  await hand.press(page.getByRole("link", { name: "Reports", exact: true }));
  await tableOf(page).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === "Reports");

  await chooseDates(page, hand);
  await breakDown(page, hand);
  await filterByCountry(page, hand);
  await sortAndPage(page, hand);
  await compare(page, hand);
  await handOn(page, hand);
}

async function chooseDates(page, hand) {
  const dates = page.getByRole("button", { name: /^Last 30 days/ });
  await hand.press(dates);
  await hand.press(page.getByRole("button", { name: "Last 7 days", exact: true }));
  await page.waitForURL(/[?&]range=last_7/);
  await rowsAre(page, "7 rows");
  // Two dates of one's own, at first in the wrong order.
  const [start, end] = await page.evaluate(() =>
    [20, 12].map((days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)),
  );
  await hand.press(page.getByRole("button", { name: /^Last 7 days/ }));
  const from = page.getByLabel("From", { exact: true });
  const to = page.getByLabel("To", { exact: true });
  const apply = page.getByRole("button", { name: "Apply" });
  await hand.writeDate(to, start);
  await hand.press(apply);
  await page.getByText("The last date is before the first.").waitFor();
  await hand.writeDate(from, start);
  await hand.writeDate(to, end);
  await hand.press(apply);
  await page.waitForURL(new RegExp(`[?&]range=${start}_${end}`));
  await rowsAre(page, "9 rows");
}

async function breakDown(page, hand) {
  await hand.press(page.getByRole("button", { name: /^Break down by/ }));
  await hand.tick(page.getByRole("checkbox", { name: "Country" }));
  await page.waitForURL(/[?&]by=date,country/);
  await page.keyboard.press("Escape");
  await hand.press(page.getByRole("button", { name: /^Metrics/ }));
  await hand.tick(page.getByRole("checkbox", { name: /^eCPM/ }));
  await page.waitForURL(/[?&]metrics=/);
  await page.keyboard.press("Escape");
  await page.getByRole("columnheader", { name: "eCPM" }).waitFor();
  await page.getByRole("columnheader", { name: "Country" }).waitFor();
}

/** Before the next task, so that no key is pressed in between. */
const focusIsInPanel = (page, name) =>
  page.evaluate(async (button) => {
    const opener = [...document.querySelectorAll(".popover > button")].find((one) => one.textContent.trim() === button);
    opener.click();
    for (let jobs = 0; jobs < 9; jobs += 1) await Promise.resolve();
    const isIn = document.activeElement.closest(".panel") !== null;
    opener.click();
    return isIn;
  }, name);

async function filterByCountry(page, hand) {
  assert.ok(await focusIsInPanel(page, "Filter"), "an opened panel takes the focus at once");
  await hand.press(page.getByRole("button", { name: "Filter", exact: true }));
  await hand.choose(page.getByRole("combobox", { name: "Filter by" }), "Country");
  const box = page.getByRole("combobox", { name: "Country is one of" });
  for (const [typed, code, country] of [
    ["ger", "DE", "Germany"],
    ["jap", "JP", "Japan"],
  ]) {
    await hand.write(box, typed);
    await page.getByText(`Enter adds ${country}.`, { exact: true }).waitFor();
    await hand.takeSuggestion(box, code);
    await page.getByRole("button", { name: `Remove ${country}`, exact: true }).waitFor();
  }
  await hand.press(page.getByRole("button", { name: "Apply" }));
  await page.waitForURL(/[?&]country=DE&country=JP/);
  await rowsAre(page, "18 rows");
}

async function sortAndPage(page, hand) {
  await hand.press(page.getByRole("button", { name: "Remove the filter for country" }));
  await page.getByRole("button", { name: "Filter", exact: true }).waitFor();
  const revenue = page.getByRole("button", { name: "Revenue", exact: true });
  await hand.press(revenue);
  await sortedBy(page, "Revenue", "descending");
  await hand.press(revenue);
  await sortedBy(page, "Revenue", "ascending");

  await hand.press(page.getByRole("button", { name: "Next page" }));
  await page.getByText(/^51 – \d+ of \d+$/).waitFor();
  // Days become final meanwhile.
  const texts = async () =>
    (await page.locator("tbody tr").allInnerTexts()).map((row) => row.replace(/\s*not final/, ""));
  const rows = await texts();
  await page.goBack();
  await page.getByText(/^1 – 50 of \d+$/).waitFor();
  await page.goForward();
  await page.getByText(/^51 – /).waitFor();
  // The address is the report: opened again it shows the same rows.
  await page.goto(page.url());
  await page.getByText(/^51 – /).waitFor();
  assert.deepEqual(await texts(), rows);
}

async function compare(page, hand) {
  await hand.tick(page.getByRole("checkbox", { name: /^Compare/ }));
  await page.getByText(/^Compared with /).waitFor();
  await page.waitForURL(/[?&]compare=1/);
  await page.locator("tbody .cell-change", { hasText: "%" }).first().waitFor();
  await hand.choose(page.getByLabel("Split by"), "Country");
  await page.getByRole("heading", { name: "Revenue by country" }).waitFor();
  await page.locator(".chart .legend li").nth(2).waitFor();
  await hand.choose(page.getByLabel("Split by"), "Total");
  const chart = page.getByRole("application", { name: /^Revenue/ });
  assert.match(await hand.lastDay(chart), /\$/);
}

async function handOn(page, hand) {
  await hand.press(page.getByRole("button", { name: "Copy as curl" }));
  await page.getByText(/^Copied as curl\./).waitFor({ state: "attached" });
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^# Signpost report, data through .* UTC\./);
  assert.match(copied, /X-Api-Key: \$SIGNPOST_KEY/);
  const query = JSON.parse(/--data '(.*)'$/s.exec(copied)[1]);
  assert.deepEqual(query.dimensions, ["date", "country"]);
}

/** The ad tag and the metrics that are counted before one is known exclude each other, and the page says why. */
export async function readAdTagRule(page, hand) {
  await page.goto("/dashboard/reports?by=ad_tag");
  await tableOf(page).waitFor();
  await hand.press(page.getByRole("button", { name: /^Metrics/ }));
  const box = page.getByRole("checkbox", { name: /^Fill rate/ });
  assert.equal(await box.getAttribute("aria-disabled"), "true");
  await page
    .getByText(/counted before an ad tag is known/)
    .first()
    .waitFor();
  await page.keyboard.press("Escape");
}
