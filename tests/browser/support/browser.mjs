// Chromium for the tests, and pages that note every message of the console.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { USER_AGENT } from "./signpost.mjs";

/** Chromium without the windows around its pages, which take a third of a test's time. */
const NAME = "chromium-headless-shell";

const ANSWERED_WITH = "Failed to load resource: the server responded with a status of";
const NOT_ANSWERED = "Failed to load resource: net::ERR_";

/** The refusal that tells the page that nobody is signed in. */
export const SIGNED_OUT = [401, "/v1/dashboard/overview"];

/** The two widths that each view is looked at in; `WIDTHS=390,768,1920` makes pictures of others. */
export const WIDTHS = process.env.WIDTHS?.split(",").map(Number) ?? [1440, 360];

const HEIGHTS = { 390: 844, 360: 740 };

function program() {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    if (existsSync(join(folder, NAME))) return join(folder, NAME);
  }
  throw new Error(
    "There is no Chromium: install Debian's package `chromium-headless-shell`, or leave the browser out by BROWSER=none",
  );
}

/** Playwright gives each browser an empty folder for its data. The sandbox needs rights that containers seldom have. */
export const launch = () =>
  chromium.launch({
    executablePath: program(),
    chromiumSandbox: false,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/**
 * A page in a context of its own. `refusals` are the answers that this test provokes, as `[status, path]`, with 0 for
 * none: the browser reports them to the console, where nothing else may stand.
 */
export async function openPage(browser, signpost, { width = 1440, dark = false, cookie, refusals = [] } = {}) {
  const isPhone = width < 700;
  const context = await browser.newContext({
    baseURL: signpost.base,
    viewport: { width, height: HEIGHTS[width] ?? 900 },
    colorScheme: dark ? "dark" : "light",
    isMobile: isPhone,
    hasTouch: isPhone,
    locale: "en-US",
    userAgent: USER_AGENT,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(15_000);
  if (cookie) await context.addCookies([cookie]);
  context.on("page", (page) => watch(page, refusals));
  return context.newPage();
}

/** A further tab of the same browser, with the same sessions. */
export const openTab = (page) => page.context().newPage();

function watch(page, refusals) {
  page.messages = collectMessages(page, refusals);
  page.requests = [];
  page.on("request", (request) => page.requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
}

function collectMessages(page, refusals) {
  const messages = [];
  page.on("pageerror", (error) => messages.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    const { url } = message.location();
    const path = url ? new URL(url).pathname : "";
    const isExpected = refusals.some(
      ([status, refused]) =>
        (refused instanceof RegExp ? refused.test(path) : path === refused) &&
        text.startsWith(status === 0 ? NOT_ANSWERED : `${ANSWERED_WITH} ${status} `),
    );
    if (!isExpected) messages.push(`${message.type()}: ${text} ${url}`);
  });
  return messages;
}

/** Closes a page and its tabs. Their console must be empty: no warning, no error, no report of the policy. */
export async function closePage(page) {
  const pages = page.context().pages();
  await page.context().close();
  assert.deepEqual(
    pages.flatMap(({ messages }) => messages),
    [],
    "messages in the console",
  );
}
