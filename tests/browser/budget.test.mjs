// The files that a browser loads for a page, with their sizes as sent. A test can only hold bytes to a limit; the
// benchmark measures time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { SURVEY, WEB_APP } from "./support/rewards.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";

const KIB = 1024;
const MOST_HTML = 14 * KIB;
const MOST_AT_FIRST = 60 * KIB;
const MOST_IN_ALL = 120 * KIB;

/** The file of the views that are loaded only when one of them is opened. */
const OF_VIEWS = /\/lazy-views-/;

const SETTINGS = ["members", "alarms", "passkeys", "sessions", "audit"];
const settings = (names) => names.map((name) => `/settings/${name}`);

/** For each site: its views, and those that are not in the first script. */
const SITES = {
  dashboard: {
    paths: [
      "",
      "/reports?by=app&split=app&chart=bar&compare=1",
      ...["/changes", "/days/2026-01-05", "/apps", "/apps/10000001", "/apps/10000001/offers", "/rewards"],
      ...settings(["keys", "pub_key", ...SETTINGS]),
    ],
    isLazy: (path) => /^\/(apps|changes|days|rewards|settings)/.test(path),
    link: "Reports",
  },
  console: {
    paths: [
      ...[
        "",
        "/search",
        "/publishers",
        `/publishers/${DEMO}`,
        `/apps/${WEB_APP}`,
        "/offers",
        `/offers/${SURVEY.offer}`,
      ],
      ...["/import", "/advertisers", `/advertisers/${SURVEY.advertiser}`, `/rewards?app=${WEB_APP}`, "/service"],
      ...settings(SETTINGS),
    ],
    isLazy: (path) => path !== "",
    link: "Publishers",
  },
};

let cookies;
const shared = suite({}, async (signpost) => {
  cookies = { dashboard: await signpost.signIn(), console: await signInToConsole(signpost) };
});

/** Opens a view in an empty cache; its files with their sizes as sent, without the calls of the API. */
async function filesOf(path, cookie) {
  const page = await shared.open({ cookie });
  const loads = [];
  page.on("requestfinished", (request) => loads.push(request));
  await page.goto(path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForFunction(() => !document.querySelector(".skeleton, [aria-busy=true]"));
  await page.waitForLoadState("networkidle");
  const files = new Map();
  for (const request of loads) {
    const url = new URL(request.url());
    if (url.protocol === "data:") continue;
    assert.equal(url.origin, shared.signpost.base, "nothing comes from elsewhere");
    if (url.pathname.startsWith("/v1/")) continue;
    files.set(url.pathname, (await request.sizes()).responseBodySize);
  }
  await closePage(page);
  return files;
}

const sum = (sizes) => [...sizes].reduce((total, size) => total + size, 0);

for (const [site, { paths, isLazy, link }] of Object.entries(SITES)) {
  test(`the page and the script of the ${site} are small, and stay so over all views`, async () => {
    const all = new Map();
    for (const path of paths) {
      const files = await filesOf(`/${site}${path}`, cookies[site]);
      const document = new URL(`/${site}${path}`, shared.signpost.base).pathname;
      const html = files.get(document);
      assert.ok(html > 0 && html <= MOST_HTML, `${document} has ${html} bytes`);
      assert.ok(
        [...files.values()].every((size) => size > 0),
        "the sizes are known",
      );
      // The styles are in the page itself. A view in a chunk of its own loads more than the page and its script.
      const isOfView = (name) => OF_VIEWS.test(name);
      const first = sum([...files].filter(([name]) => !isOfView(name)).map(([, size]) => size));
      assert.ok(first <= MOST_AT_FIRST, `${document} loads ${first} bytes`);
      assert.equal([...files.keys()].some(isOfView), isLazy(path), `${document} loads what it shows`);
      for (const [name, size] of files) all.set(name === document ? "the page" : name, size);
    }
    assert.ok(sum(all.values()) <= MOST_IN_ALL, `all views load ${sum(all.values())} bytes`);
  });

  test(`heading and navigation of the ${site} stand before its script runs`, async () => {
    const page = await shared.open({ cookie: cookies[site] });
    await page.route(/\/assets\//, () => {});
    await page.goto(`/${site}`, { waitUntil: "commit" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: link }).waitFor();
    await closePage(page);
  });
}
