// Times the dashboard in Chromium, for `benches/speed/dashboard.rs`: node benches/dashboard.mjs ROUNDS
// Prints `{first_content, numbers, view}`, each a list of milliseconds with one figure for each round.

import { launch, openPage } from "../tests/browser/support/browser.mjs";
import { startSignpost } from "../tests/browser/support/signpost.mjs";

// A phone on a slow mobile network: 150 ms there and back, 1.6 Mbit/s down, 750 kbit/s up, a CPU four times slower.
const NETWORK = { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 750e3 / 8 };
const CPU_RATE = 4;

/** A first visit with an empty cache: the first content, and the overview's numbers. */
async function coldVisit(browser, signpost, cookie) {
  const page = await openPage(browser, signpost, { width: 360, cookie });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", NETWORK);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: CPU_RATE });
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector(".tile-value")) return;
      observer.disconnect();
      // In the frame that shows them.
      requestAnimationFrame(() => (globalThis.numbersAt = performance.now()));
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  await page.goto("/dashboard");
  await page.waitForFunction(() => globalThis.numbersAt);
  const found = await page.evaluate(() => [
    performance.getEntriesByName("first-contentful-paint")[0].startTime,
    globalThis.numbersAt,
  ]);
  await page.context().close();
  return found;
}

/** From the click on a link until the other view is there, from the client's cache; the slower of both ways. */
async function warmSwitch(page) {
  return page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const go = async (name, content) => {
      const link = [...document.querySelectorAll("header nav a")].find((one) => one.textContent === name);
      const start = performance.now();
      link.click();
      do await frame();
      while (!document.querySelector(content));
      return performance.now() - start;
    };
    const toReports = await go("Reports", ".table-card tbody");
    const toOverview = await go("Overview", ".tile-value");
    return Math.max(toReports, toOverview);
  });
}

async function openBothViews(browser, signpost, cookie) {
  const page = await openPage(browser, signpost, { cookie });
  await page.goto("/dashboard");
  await page.locator(".ranking").first().waitFor();
  await page.getByRole("link", { name: "Reports", exact: true }).click();
  await page.getByRole("table", { name: "Report", exact: true }).waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await page.locator(".tile-value").first().waitFor();
  return page;
}

const rounds = Number(process.argv[2]);
if (!(rounds > 0)) throw new Error("usage: node benches/dashboard.mjs ROUNDS");
const found = { first_content: [], numbers: [], view: [] };
const browser = await launch();
let signpost;
try {
  signpost = await startSignpost();
  const cookie = await signpost.signIn();
  // The first visit starts isolates and objects, which are no part of a page.
  await coldVisit(browser, signpost, cookie);
  const warm = await openBothViews(browser, signpost, cookie);
  for (let round = 0; round < rounds; round += 1) {
    const [firstContent, numbers] = await coldVisit(browser, signpost, cookie);
    found.first_content.push(firstContent);
    found.numbers.push(numbers);
    found.view.push(await warmSwitch(warm));
  }
} finally {
  await browser.close();
  await signpost?.stop();
}
console.log(JSON.stringify(found));
