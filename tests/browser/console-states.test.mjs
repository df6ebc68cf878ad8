// The console's pages in trouble, and the end of a session.

import assert from "node:assert/strict";
import { test } from "node:test";
import { paths, states } from "./gallery/console-states.mjs";
import { closePage, WIDTHS } from "./support/browser.mjs";
import { signInToConsole, signOutOfConsole } from "./support/console.mjs";
import { look } from "./support/gallery.mjs";
import { suite } from "./support/suite.mjs";

let support;
let views;
const shared = suite({ facts: false }, async (signpost) => {
  support = await signInToConsole(signpost, "support", "Sam Idowu");
  views = states({ admin: await signInToConsole(signpost), support });
});

// The parts are those of the gallery, so that one width is enough for each.
Object.keys(states({})).forEach((name, index) => {
  const width = WIDTHS[index % WIDTHS.length];
  test(`${name} at ${width} px`, () => look(shared, name, views[name], width, ["light"]));
});

test("support is refused nothing that a page loads by itself", async () => {
  const page = await shared.open({ cookie: support, refusals: [] });
  for (const path of paths) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForFunction(() => !document.querySelector(".skeleton, [aria-busy=true]"));
    assert.equal(await page.getByText("Your role does not include this").count(), 0, path);
  }
  await closePage(page);
});

const ENDED = [401, /^\/v1\/(console|operator)\//];

test("a session that ends shows the sign-in view at the next click, and keeps the address", async () => {
  const cookie = await signInToConsole(shared.signpost);
  const page = await shared.open({ cookie, refusals: [ENDED] });
  await page.goto("/console/offers?state=active");
  await page.getByRole("table", { name: "Offers" }).waitFor();
  await signOutOfConsole(shared.signpost, cookie);
  await page.getByRole("combobox", { name: "Advertiser" }).selectOption({ index: 1 });
  await page.getByText("Your session has ended.").waitFor();
  assert.match(page.url(), /\/console\/offers\?advertiser=[^&]+&state=active$/);
  await closePage(page);
});

test("a page that is only looked at shows the end of its session by itself", async () => {
  const cookie = await signInToConsole(shared.signpost);
  const page = await shared.open({ cookie, refusals: [ENDED] });
  await page.goto("/console");
  await page.getByText("Nothing in this list").waitFor();
  await signOutOfConsole(shared.signpost, cookie);
  await page.getByText("Your session has ended.").waitFor();
  await closePage(page);
});

test("a list that cannot be updated says so, and goes on by itself", async () => {
  const path = "/v1/operator/attention";
  const page = await shared.open({ cookie: await signInToConsole(shared.signpost), refusals: [[0, path]] });
  await page.goto("/console");
  await page.getByText("Nothing in this list").waitFor();
  const isOfAttention = (url) => url.pathname === path;
  await page.route(isOfAttention, (route) => route.abort("internetdisconnected"));
  await page.getByText("Not being updated").waitFor();
  await page.getByText("Nothing in this list").waitFor();
  await page.unroute(isOfAttention);
  await page.getByText("Not being updated").waitFor({ state: "detached" });
  await closePage(page);
});
