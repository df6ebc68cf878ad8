// The documentation site in Chromium, served by the local Worker: every page in both widths and schemes, the links, the
// search, and the keyboard. Needs the packages of docs/site, which `make verify` installs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { HEADERS } from "../../docs/site/lib/headers.js";
import { HtmlPages } from "../../docs/site/lib/html_pages.js";
import { closePage, launch, openPage } from "../browser/support/browser.mjs";
import { signInToConsole } from "../browser/support/console.mjs";
import { checkView } from "../browser/support/gallery.mjs";
import { ROOT, startSignpost } from "../browser/support/signpost.mjs";
import { addressesIn, build, openDetails, references, SITE, unreachable } from "./support.mjs";

const FOLDER = join(ROOT, "build/docs");
const WIDTHS = [1440, 360];
/** Another scheme has other colors and nothing else. */
const COLORS = ["color-contrast", "link-in-text-block"];

let browser;
let signpost;
let scratch;

before(async () => {
  scratch = await mkdtemp(join(tmpdir(), "signpost-docs-"));
  await build(FOLDER);
  browser = await launch();
  signpost = await startSignpost({ facts: false, docs: FOLDER });
});

after(async () => {
  await browser?.close();
  await signpost?.stop();
  await rm(scratch, { recursive: true, force: true });
});

const open = (options) => openPage(browser, signpost, options);

/** Opens each page at one width, in light and then in dark. */
async function look(width, visit) {
  const page = await open({ width });
  await page.emulateMedia({ reducedMotion: "reduce" });
  for (const address of addressesIn(FOLDER)) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(`/docs/${address}`);
    await page.evaluate(openDetails);
    const named = async (check) => {
      try {
        return await check();
      } catch (error) {
        throw new Error(`/docs/${address} at ${width} px: ${error.message}`, { cause: error });
      }
    };
    await named(() => checkView(page));
    await named(async () => assert.deepEqual(await page.evaluate(unreachable), [], "out of the keyboard's reach"));
    await page.emulateMedia({ colorScheme: "dark" });
    await named(() => checkView(page, COLORS));
    await visit?.(page, address);
  }
  await closePage(page);
}

describe("every page", { concurrency: 2 }, () => {
  test("is right on a wide screen, and every link leads somewhere", async () => {
    const found = new Map();
    await look(WIDTHS[0], async (page) => {
      const { links, anchors } = await page.evaluate(references);
      found.set(page.url(), { links, anchors: new Set(anchors) });
    });
    assert.ok(found.size > 30, `${found.size} pages`);
    const own = [...found].flatMap(([from, { links }]) => links.map((link) => ({ from, link: new URL(link) })));
    const files = new Map();
    for (const { from, link } of own.filter(({ link }) => link.origin === signpost.base)) {
      const [address, anchor] = [link.origin + link.pathname, decodeURIComponent(link.hash.slice(1))];
      if (!files.has(address)) files.set(address, (await fetch(address, { redirect: "manual" })).status);
      assert.equal(files.get(address), 200, `${from}: ${link}`);
      if (anchor) assert.ok(found.get(address)?.anchors.has(anchor), `${from}: ${link}`);
    }
    assert.ok(own.length > 1000, `${own.length} links`);
  });

  test("is right on a phone", () => look(WIDTHS[1]));
});

test("the search finds each code of an error and leads to its place", async () => {
  const page = await open();
  await page.goto("/docs/");
  const codes = (await readFile(join(SITE, "errors.yaml"), "utf8")).match(/^[a-z_]+(?=:)/gm);
  assert.ok(codes.length > 90, `${codes.length} codes`);
  const first = page.locator("#site-results a").first();
  for (const code of codes) {
    await page.fill("#site-search", code);
    await page.waitForFunction((code) => document.querySelector("#site-results b")?.textContent === code, code);
    assert.ok((await first.getAttribute("href")).endsWith(`errors/#${code}`), code);
  }
  await first.click();
  await page.waitForURL(/\/docs\/errors\/#/);
  assert.ok(await page.locator(`#${codes.at(-1)}`).isVisible());
  await page.fill("#site-search", "fair queue");
  await first.filter({ hasText: "Fair queue" }).waitFor();
  assert.ok((await first.getAttribute("href")).endsWith("glossary/#fair-queue"));
  await page.keyboard.press("Escape");
  await page.locator("main").press("/");
  await page.keyboard.type("dead letters");
  await page.locator("#site-results a").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.pathname.endsWith("/errors/"));
  await closePage(page);
});

test("the search says when nothing is found, and Escape closes it", async () => {
  const page = await open({ width: 360 });
  await page.goto("/docs/spec/");
  await page.fill("#site-search", "qqzzqq");
  await page.getByText("Nothing has “qqzzqq”").waitFor();
  await checkView(page);
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#site-results").isHidden());
  await closePage(page);
});

test("the Tab key goes through a page in order", async () => {
  const page = await open();
  await page.goto("/docs/api/offers/");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  const count = await page.evaluate(
    () =>
      [...document.querySelectorAll("a, button, input, summary, [tabindex='0']")].filter(
        (element) => element.checkVisibility() && element.tabIndex >= 0,
      ).length,
  );
  const reached = new Set();
  for (let at = 0; at < count; at += 1) {
    reached.add(await page.evaluate(() => (document.activeElement.dataset.at ??= String(Math.random()))));
    await page.keyboard.press("Tab");
  }
  assert.equal(reached.size, count);
  await closePage(page);
});

test("the choice of colors is kept, and a phone's menu opens", async () => {
  const page = await open({ width: 360 });
  await page.goto("/docs/");
  const color = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await color();
  await page.getByRole("button", { name: "Dark colors" }).click();
  assert.notEqual(await color(), light);
  await page.goto("/docs/glossary/");
  assert.notEqual(await color(), light);
  assert.equal(await page.getByRole("button", { name: "Dark colors", pressed: true }).count(), 1);
  const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Decisions" });
  assert.ok(await link.isHidden());
  await page.getByRole("button", { name: "Pages" }).click();
  await checkView(page);
  await link.click();
  await page.waitForURL("**/docs/decisions/");
  await closePage(page);
});

test("the recipes show each file of the repository as it is", async () => {
  const page = await open();
  await page.goto("/docs/guides/recipes/");
  const shown = await page.locator("pre").allTextContents();
  for (const folder of ["recipes", "signers", "verifiers"]) {
    const entries = await readdir(join(ROOT, "fixtures", folder), { withFileTypes: true });
    for (const { name } of entries.filter((entry) => entry.isFile())) {
      const text = await readFile(join(ROOT, "fixtures", folder, name), "utf8");
      assert.ok(shown.includes(text.trimEnd()), name);
    }
  }
  for (const colored of ["hash_equals", "func", "pub"])
    await page.locator("pre span", { hasText: colored }).first().waitFor();
  await closePage(page);
});

test("without scripts a page can be read and left", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  await page.goto(`${signpost.base}/docs/decisions/`);
  assert.ok(await page.getByRole("link", { name: "Glossary", exact: true }).first().isVisible());
  assert.ok(await page.locator("#site-search").isHidden());
  await context.close();
});

test("answers have the headers of production, and everything else is Signpost's", async () => {
  const expected = Object.entries(HEADERS);
  for (const [path, status, type] of [
    ["/docs/", 200, "text/html; charset=utf-8"],
    ["/docs/assets/site.js", 200, "text/javascript; charset=utf-8"],
    ["/docs/assets/tokens.css", 200, "text/css; charset=utf-8"],
    ["/docs/assets/search.json", 200, "application/json"],
    ["/docs/assets/icon.svg", 200, "image/svg+xml"],
    ["/docs/llms.txt", 200, "text/plain; charset=utf-8"],
    ["/docs/spec", 308, null],
    ["/docs", 308, null],
    ["/docs/nothing/", 404, "text/html; charset=utf-8"],
    ["/docs/_headers", 404, "text/html; charset=utf-8"],
    ["/docs/assets/", 404, "text/html; charset=utf-8"],
  ]) {
    const answer = await fetch(signpost.base + path, { redirect: "manual" });
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers.get("Content-Type"), type, path);
    for (const [name, value] of expected) assert.equal(answer.headers.get(name), value, `${path}: ${name}`);
  }
  assert.equal((await fetch(`${signpost.base}/docs/`, { method: "POST" })).status, 405);
  const written = await readFile(join(FOLDER, "_headers"), "utf8");
  assert.equal(written, `/*\n${expected.map(([name, value]) => `  ${name}: ${value}\n`).join("")}`);
  assert.equal((await fetch(`${signpost.base}/docsx`)).headers.get("Content-Type"), "application/json");
  assert.equal((await fetch(`${signpost.base}/openapi.json`)).status, 200);
  const html = await readFile(join(FOLDER, "spec/index.html"), "utf8");
  const version = /^version = "(.+)"$/m.exec(await readFile(join(ROOT, "Cargo.toml"), "utf8"))[1];
  assert.match(html, new RegExp(`class="version">${version}<`));
  assert.doesNotMatch(html, /Edit this page|style=/);
});

test("the account menus of the dashboard and the console link to the site", async () => {
  const cookies = { "/dashboard": await signpost.signIn(), "/console": await signInToConsole(signpost) };
  for (const [path, cookie] of Object.entries(cookies)) {
    const page = await open({ cookie });
    await page.goto(path);
    await page.getByRole("button", { name: /^Account/ }).click();
    const link = page.getByRole("link", { name: "Documentation", exact: true });
    await link.waitFor();
    await checkView(page);
    const [opened] = await Promise.all([page.waitForEvent("popup"), link.click()]);
    await opened.waitForURL(`${signpost.base}/docs/`);
    await closePage(page);
  }
});

test("a local run without the site says how to build it", async () => {
  const empty = join(scratch, "empty");
  await mkdir(empty);
  const other = await startSignpost({ facts: false, docs: empty });
  try {
    const answer = await fetch(`${other.base}/docs/`);
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /make docs/);
  } finally {
    await other.stop();
  }
});

test("with DOCS_EDIT_URL pages and files of the repository are links", async () => {
  const folder = join(scratch, "edited");
  await build(folder, { DOCS_EDIT_URL: "https://git.example/signpost/edit/main" });
  const html = await readFile(join(folder, "integrating/index.html"), "utf8");
  assert.match(html, /href="https:\/\/git\.example\/signpost\/edit\/main\/docs\/INTEGRATING\.md">Edit this page</);
  assert.match(html, /href="https:\/\/git\.example\/signpost\/blob\/main\/clients\/python\/README\.md"/);
});

test("a link or an anchor that leads nowhere is found", async () => {
  const folder = join(scratch, "broken");
  await mkdir(folder);
  await writeFile(
    join(folder, "index.html"),
    '<main><a href="other/">a</a><a href="#no">b</a><p id="x"><p id="x"></main>',
  );
  assert.deepEqual(new HtmlPages(folder).problems(), [
    "index.html: other/",
    "index.html: #no",
    "index.html has #x twice",
  ]);
});

test("wrangler accepts the site", async () => {
  const wrangler = join(ROOT, "node_modules/.bin/wrangler");
  const told = await promisify(execFile)(wrangler, ["deploy", "--dry-run", "--config", join(SITE, "wrangler.toml")], {
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", MAKEFLAGS: undefined },
  });
  assert.match(told.stdout, /--dry-run: exiting now/);
});
