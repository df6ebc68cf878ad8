// What was typed or is shown once stays until somebody dismisses it, whatever else the browser or the network does.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { Mouse } from "./support/hands.mjs";
import { advertiserToken, report, VISIT, WEB_APP } from "./support/rewards.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";
import * as rewards from "./tasks/console-rewards.mjs";

const ADVERTISER = "lost-answers";
const TOKEN = `/v1/operator/advertisers/${ADVERTISER}/token`;

let admin;
let owner;
let visits;
const shared = suite({ facts: false }, async (signpost) => {
  admin = await signInToConsole(signpost);
  owner = await signpost.signIn();
  visits = await advertiserToken(signpost, VISIT.advertiser);
  await signpost.operator("PUT", `/advertisers/${ADVERTISER}`, { name: "Lost Answers" });
});

const button = (within, name) => within.getByRole("button", { name, exact: true });

/** Carries out the next call, and loses its answer. */
const loseAnswer = (page, path) =>
  page.evaluate((path) => {
    const send = window.fetch;
    window.fetch = async (url, options) => {
      const answer = await send(url, options);
      if (!String(url).endsWith(path)) return answer;
      window.fetch = send;
      return Response.json({ error: "busy", code: "unavailable" }, { status: 503 });
    };
  }, path);

test("a token stays until it is dismissed, and after a lost answer the next one ends no other unannounced", async () => {
  const page = await shared.open({ cookie: admin });
  await page.goto(`/console/advertisers/${ADVERTISER}`);
  const dialog = page.getByRole("dialog");
  await button(page, "Issue a token").click();
  await button(dialog, "Issue a token").click();
  const token = await dialog.getByText(/^at_/).innerText();
  for (let press = 0; press < 4; press += 1) await page.keyboard.press("Escape");
  await page.waitForTimeout(300);
  assert.equal(await dialog.getByText(token).isVisible(), true);
  await button(dialog, "Done").click();

  await loseAnswer(page, TOKEN);
  await button(page, "Issue a token").click();
  await button(dialog, "Issue a token").click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByText(/is refused within two minutes/).waitFor();
  await closePage(page);
});

test("a text that is selected beyond its dialog closes nothing", async () => {
  const page = await shared.open({ cookie: admin });
  await page.goto(`/console/advertisers/${ADVERTISER}`);
  await button(page, "Rename").click();
  const dialog = page.getByRole("dialog");
  const field = dialog.getByRole("textbox");
  await field.fill("Lost and Found");
  const { x, y, height } = await field.boundingBox();
  await page.mouse.move(x + 40, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(5, 5, { steps: 4 });
  await page.mouse.up();
  assert.equal(await field.inputValue(), "Lost and Found");
  await page.mouse.click(5, 5);
  await dialog.waitFor({ state: "detached" });
  await closePage(page);
});

test("another section is opened only after a question while a key is shown once", async () => {
  const page = await shared.open({ cookie: admin });
  await page.goto(`/console/publishers/${DEMO}?section=keys`);
  await page.getByLabel("Label").fill("Nightly");
  await button(page, "Create a key").click();
  const key = await page.getByText(/^sk_/).innerText();
  await page.getByRole("link", { name: "Facts", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByText(key).waitFor();
  assert.match(page.url(), /section=keys$/);
  await closePage(page);
});

test("a bulk decision decides what was counted, though the list behind it changes", async () => {
  for (const user of ["counted", "not-counted"]) await report(shared.signpost, visits, VISIT, user);
  const page = await shared.open({ cookie: admin });
  const hand = new Mouse(page);
  await rewards.listRewards(page, hand, WEB_APP, "Held for review");
  await rewards.filterByUser(page, hand, "counted");
  await button(page, "Approve or reject all that match").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/^1 reward/).waitFor();
  await page.goBack();
  await page.waitForURL((url) => !url.hash.includes("user="));
  await dialog.getByLabel("Reason").fill("checked");
  await dialog.getByRole("button", { name: /^Approve/ }).click();
  await page.getByRole("dialog", { name: /^1 reward was approved/ }).waitFor();
  for (const [user_id, held] of Object.entries({ counted: 0, "not-counted": 1 })) {
    const filter = { status: "held", user_id };
    const { conversions } = await shared.signpost.operator("POST", `/apps/${WEB_APP}/conversions`, filter);
    assert.equal(conversions.length, held, user_id);
  }
  await closePage(page);
});

test("what is typed during a save stays", async () => {
  const page = await shared.open({ cookie: owner });
  await page.goto("/dashboard/apps/10000001");
  const part = page.locator("section.part", { has: page.getByRole("heading", { name: "Blocked offers" }) });
  const field = part.getByLabel("Offer IDs, one per line");
  await field.fill("23817");
  let arrived;
  const saving = new Promise((resolve) => {
    arrived = resolve;
  });
  let release;
  await page.route(/\/v1\/dashboard\/apps\/10000001$/, async (route) => {
    if (route.request().method() === "GET") return route.fallback();
    arrived();
    await new Promise((resolve) => {
      release = resolve;
    });
    return route.fallback();
  });
  await button(part, "Save").click();
  await saving;
  await field.fill("23817\n58213");
  release();
  await page.getByText("Saved.").waitFor({ state: "attached" });
  assert.equal(await field.inputValue(), "23817\n58213");
  await button(part, "Discard changes").click();
  assert.equal(await field.inputValue(), "23817");
  await closePage(page);
});
