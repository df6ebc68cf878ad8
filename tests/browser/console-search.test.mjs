// An operator pastes an id and learns what it is: by mouse and again by keyboard alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { HANDS, Keyboard } from "./support/hands.mjs";
import { advertiserToken, report, SURVEY, WEB_APP } from "./support/rewards.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";

const USER = "searched-for";
let admin;
let reward;
const shared = suite({ facts: false }, async (signpost) => {
  admin = await signInToConsole(signpost);
  const token = await advertiserToken(signpost, SURVEY.advertiser);
  reward = await report(signpost, token, SURVEY, USER);
});

const box = (page) => page.getByRole("search").getByRole("textbox", { name: "Search" });

/** By keyboard the box is reached by its shortcut. */
async function paste(page, hand, text) {
  if (hand instanceof Keyboard) {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(text);
  } else {
    await box(page).fill(text);
  }
  await page.keyboard.press("Enter");
}

/** What is pasted stands in no address that a server sees. */
const isUnseen = (page, text) => assert.ok(!(new URL(page.url()).search + page.requests.join()).includes(text));

for (const Hand of HANDS) {
  test(`an id opens what it is by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
    const hand = new Hand(page);
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    for (const [text, path] of [
      [SURVEY.offer, `/console/offers/${SURVEY.offer}`],
      [WEB_APP, `/console/apps/${WEB_APP}`],
      [DEMO, `/console/publishers/${DEMO}`],
    ]) {
      await paste(page, hand, text);
      await page.waitForURL((url) => url.pathname === path);
    }
    await closePage(page);
  });

  test(`a click id shows what it holds and what became of it by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
    const hand = new Hand(page);
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    await paste(page, hand, reward.clickId);
    const click = page.getByRole("region", { name: "Click" });
    await click.getByText(USER).waitFor();
    await click.getByText("United States").waitFor();
    isUnseen(page, reward.clickId);
    const became = page.getByRole("table", { name: "What became of it" });
    await hand.press(became.getByRole("link", { name: reward.transactionId }));
    await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
    await closePage(page);
  });

  test(`a user is found in an app by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
    const hand = new Hand(page);
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    await paste(page, hand, USER);
    await page.getByText("Which app is it of?").waitFor();
    await hand.write(page.getByLabel("App", { exact: true }), WEB_APP);
    await hand.press(page.getByRole("button", { name: "Search in this app" }));
    await page.getByRole("table", { name: "Rewards of this user" }).getByText("Approved").waitFor();
    isUnseen(page, USER);
    await hand.press(page.getByRole("link", { name: "Open as a list" }));
    await page.getByRole("table", { name: "Rewards", exact: true }).getByText(USER).waitFor();
    isUnseen(page, USER);
    await closePage(page);
  });
}

test("what nothing has is said, and a key alone is no shortcut", async () => {
  const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
  await page.goto(`/console/search#${new URLSearchParams({ text: "no-such-user", app: WEB_APP })}`);
  await page.getByText("Nothing has this id").waitFor();
  await page.getByRole("heading", { name: "Search" }).focus();
  await page.keyboard.press("/");
  await page.keyboard.press("k");
  assert.equal(await box(page).inputValue(), "");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("/k");
  assert.equal(await box(page).inputValue(), "/k");
  await closePage(page);
});
