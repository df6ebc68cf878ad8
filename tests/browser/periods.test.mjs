// Periods by letter: on the whole page, in no field, with no modifier, and in a dialog for its own list alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { suite } from "./support/suite.mjs";

let cookie;
const shared = suite({ facts: false }, async (signpost) => {
  cookie = await signpost.signIn();
});

const rangeOf = (page) => new URL(page.url()).searchParams.get("range");

for (const view of ["/dashboard", "/dashboard/reports"]) {
  test(`letters choose the period of ${view}`, async () => {
    const page = await shared.open({ cookie });
    await page.goto(view);
    const button = page.getByRole("button", { name: /^Last 30 days/ });
    await button.waitFor();
    for (const [letter, range] of Object.entries({ y: "yesterday", s: "last_7", n: "last_90", w: "this_week" })) {
      await page.keyboard.press(letter);
      await page.waitForFunction((range) => location.search === `?range=${range}`, range);
    }
    for (const keys of ["Control+m", "Alt+m", "Shift+m"]) await page.keyboard.press(keys);
    // Custom dates take the focus, and what is typed there is no choice.
    await page.keyboard.press("c");
    const from = page.getByLabel("From", { exact: true });
    await page.waitForFunction(() => document.activeElement.matches("fieldset input"));
    await page.keyboard.press("Control+a");
    await page.keyboard.type("m");
    assert.equal(await from.inputValue(), "m");
    await page.keyboard.press("Enter");
    await page.getByText("“m” is not a date. Enter it as 25 Nov 2026 or 2026-11-25.").waitFor();
    assert.equal(rangeOf(page), "this_week");
    await page.keyboard.press("Escape");
    await from.waitFor({ state: "detached" });
    // In the open menu a letter closes it.
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Last month", exact: true }).waitFor();
    await page.keyboard.press("l");
    await page.waitForURL(/range=last_month/);
    await from.waitFor({ state: "detached" });
    await closePage(page);
  });
}

test("letters can be turned off, and stay so", async () => {
  const page = await shared.open({ cookie });
  await page.goto("/dashboard/reports");
  await page.getByRole("button", { name: /^Last 30 days/ }).click();
  await page.getByRole("checkbox", { name: "Single-letter shortcuts for periods" }).uncheck();
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByRole("button", { name: /^Last 30 days/ }).waitFor();
  await page.keyboard.press("w");
  await page.keyboard.press("c");
  assert.equal(rangeOf(page), null);
  assert.equal(await page.getByLabel("From", { exact: true }).count(), 0);
  await closePage(page);
});

test("a letter in a dialog chooses its period, and not the page's", async () => {
  const page = await shared.open({ cookie, refusals: [[404, /replays$/]] });
  await page.goto("/dashboard/rewards?app=10000001");
  await page.getByRole("button", { name: "Send callbacks again" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: /^Delivered/ }).check();
  await page.keyboard.press("y");
  await dialog.getByRole("button", { name: "Conversions (UTC): Yesterday" }).waitFor();
  await dialog.getByRole("button", { name: "Conversions (UTC): Yesterday" }).click();
  // Escape closes the menu, and the dialog stays.
  await page.keyboard.press("Escape");
  await dialog.getByLabel("From", { exact: true }).waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(new URL(page.url()).search, "?app=10000001");
  await page.keyboard.press("t");
  const today = new Date().toISOString().slice(0, 10);
  await page.waitForURL(new RegExp(`[?&]from=${today}&to=${today}`));
  await page.keyboard.press("a");
  await page.waitForURL((url) => url.search === "?app=10000001");
  await closePage(page);
});

test("the page works where the browser keeps nothing, and keeps nothing that nobody chose", async () => {
  const page = await shared.open({ cookie });
  await page.goto("/dashboard/reports");
  const button = page.getByRole("button", { name: /^Last 30 days/ });
  await button.waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), []);
  await page.addInitScript(() =>
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("site data is blocked", "SecurityError");
      },
    }),
  );
  await page.reload();
  await button.click();
  await page.getByRole("checkbox", { name: "Single-letter shortcuts for periods" }).uncheck();
  await page.getByRole("button", { name: "Last month", exact: true }).click();
  await page.waitForURL(/range=last_month/);
  await closePage(page);
});

test("a report with remembered metrics is asked for once", async () => {
  const page = await shared.open({ cookie });
  await page.addInitScript(() => localStorage.setItem("report-columns", "clicks"));
  const asked = [];
  page.on("request", (request) => request.method() === "POST" && asked.push(request.postData()));
  await page.goto("/dashboard/reports");
  await page.waitForURL(/metrics=clicks/);
  await page.getByRole("button", { name: /^Last 30 days/ }).waitFor();
  await page.waitForFunction(() => !document.querySelector(".skeleton"));
  assert.ok(asked.length > 0);
  assert.ok(!asked.join().includes("impressions"), asked.join("\n"));
  await closePage(page);
});
