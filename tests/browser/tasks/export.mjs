// The whole result as a file, in each format.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const FORMATS = [
  { label: "CSV", extension: "csv", mediaType: "text/csv", lineEnd: "\r\n", headLines: 1 },
  { label: "CSV for spreadsheets", extension: "csv", mediaType: null, lineEnd: "\r\n", headLines: 1 },
  { label: "NDJSON", extension: "ndjson", mediaType: "application/x-ndjson", lineEnd: "\n", headLines: 0 },
];

/** `readReport` returns the public API's bytes for a query and a media type; `publisher` is in the name of each file. */
export async function exportReport(page, hand, { publisher, readReport }) {
  // More rows than a page shows, and no more than the public API answers at once.
  await page.goto("/dashboard/reports?by=date,country&metrics=revenue,clicks,ecpm");
  const heading = page.getByRole("heading", { name: /^\d+ rows$/ });
  const rows = Number.parseInt(await heading.innerText(), 10);
  assert.ok(rows > 50 && rows <= 1000, `${rows} rows`);
  await hand.press(page.getByRole("button", { name: "Copy as curl" }));
  await page.getByText(/^Copied as curl\./).waitFor({ state: "attached" });
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const query = JSON.parse(/--data '(.*)'$/s.exec(copied)[1]);

  for (const format of FORMATS) {
    const file = await download(page, hand, format.label, rows);
    assert.match(file.name, new RegExp(`^signpost-${publisher}-[-\\d]{10}-to-[-\\d]{10}\\.${format.extension}$`));
    const lines = file.text.split(format.lineEnd);
    assert.equal(lines.pop(), "", "the last line has an end");
    assert.equal(lines.length - format.headLines, rows, `${format.label} has the rows that were said`);
    if (format.mediaType) {
      const whole = { ...query, pagination: { page: 1, count: 1000 } };
      assert.equal(file.text, await readReport(whole, format.mediaType), `${format.label} is the API's`);
    }
  }
}

async function download(page, hand, label, rows) {
  await hand.press(page.getByRole("button", { name: "Export", exact: true }));
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`The whole result is exported: ${rows} rows`).waitFor();
  await hand.tick(dialog.getByRole("radio", { name: new RegExp(`^${label} [A-Z]`) }));
  const begun = page.waitForEvent("download");
  await hand.press(dialog.getByRole("button", { name: "Export", exact: true }));
  const file = await begun;
  await page.getByText(`Your download has started: ${rows} rows.`).first().waitFor({ state: "attached" });
  await dialog.waitFor({ state: "detached" });
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
}
