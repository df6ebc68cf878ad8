// What a browser loads of the page, as the server sends it. Fewer bytes are the one speed that a test can hold; the
// benchmark measures time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { suite } from "./support/suite.mjs";

const KIB = 1024;
const MOST_HTML = 14 * KIB;
const MOST_AT_FIRST = 60 * KIB;
const MOST_IN_ALL = 100 * KIB;

let cookie;
const shared = suite({}, async (signpost) => {
  cookie = await signpost.signIn();
});

const PATHS = [
  "",
  "/reports?by=app&split=app&chart=bar&compare=1",
  ...["/apps", "/apps/10000001", "/apps/10000001/offers", "/rewards"],
  ...["keys", "pub_key", "members", "passkeys", "sessions", "audit"].map((name) => `/settings/${name}`),
];

/** Opens a view in an empty cache; its files with their sizes as sent, without the calls of the API. */
async function filesOf(path) {
  const page = await shared.open({ cookie });
  const loads = [];
  page.on("requestfinished", (request) => loads.push(request));
  await page.goto(path);
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

test("the page and its script are small, and stay so over all views", async () => {
  const all = new Map();
  for (const path of PATHS) {
    const files = await filesOf(`/dashboard${path}`);
    const document = new URL(`/dashboard${path}`, shared.signpost.base).pathname;
    const html = files.get(document);
    assert.ok(html > 0 && html <= MOST_HTML, `${document} has ${html} bytes`);
    assert.ok([...files.values()].every((size) => size > 0), "the sizes are known");
    // The styles stand in the page. A view of its own chunk starts with more than the page and its script.
    const first = sum([...files].filter(([name]) => !name.includes("lazy-")).map(([, size]) => size));
    assert.ok(first <= MOST_AT_FIRST, `${document} loads ${first} bytes`);
    const isLazy = /^\/(apps|rewards)/.test(path);
    assert.equal([...files.keys()].some((name) => name.includes("lazy-")), isLazy, `${document} loads what it shows`);
    for (const [name, size] of files) all.set(name === document ? "the page" : name, size);
  }
  assert.equal(all.size, 4, "a page, its script in two parts, and the views that are loaded when they are opened");
  assert.ok(sum(all.values()) <= MOST_IN_ALL, `all views load ${sum(all.values())} bytes`);
});
