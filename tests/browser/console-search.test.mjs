// An operator pastes an id and learns what it is: by mouse and again by keyboard alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { answerFor, signInToConsole } from "./support/console.mjs";
import { HANDS, Keyboard } from "./support/hands.mjs";
import { addPartner } from "./support/partner.mjs";
import { advertiserToken, report, SURVEY, WEB_APP } from "./support/rewards.mjs";
import { DEMO } from "./support/signpost.mjs";
import { expireClicks } from "./support/stored.mjs";
import { suite } from "./support/suite.mjs";

const USER = "searched-for";
let admin;
let reward;
let partner;
let keys;
const shared = suite({ facts: false }, async (signpost) => {
  admin = await signInToConsole(signpost);
  const token = await advertiserToken(signpost, SURVEY.advertiser);
  reward = await report(signpost, token, SURVEY, USER);
  // Its click ids are short, so that clicks are kept in the store.
  partner = await addPartner(signpost, "seeker", "45000000", { offer: { click_id_max: 50 } });
  const createKey = (label) => signpost.operator("POST", `/publishers/${DEMO}/report_keys`, { label });
  keys = { valid: await createKey("data warehouse"), revoked: await createKey("former scripts") };
  await signpost.operator("DELETE", `/publishers/${DEMO}/report_keys/${keys.revoked.key_id}`);
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

/** No address that a server sees contains the pasted text. */
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
    const became = page.getByRole("table", { name: "Rewards of this click" });
    await hand.press(became.getByRole("link", { name: reward.transactionId }));
    await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
    await closePage(page);
  });

  test(`a part of a name finds what has it by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
    const hand = new Hand(page);
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    await paste(page, hand, "arcade");
    // A user's ID may be a part of a name.
    await page.getByRole("heading", { name: "Is it a user ID?" }).waitFor();
    await hand.press(
      page
        .getByRole("table", { name: /^\d+ matches$|^1 match$/ })
        .getByRole("link", { name: "Lumen Arcade", exact: true }),
    );
    await page.waitForURL((url) => url.pathname === `/console/publishers/${DEMO}`);
    await closePage(page);
  });

  test(`a user is found by the ID alone by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
    const hand = new Hand(page);
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    await paste(page, hand, USER);
    await page.getByRole("table", { name: "Rewards of this user" }).getByText("Approved").waitFor();
    isUnseen(page, USER);
    await hand.press(page.getByRole("link", { name: "Open as a list" }));
    await page.getByRole("table", { name: "Rewards", exact: true }).getByText(USER).waitFor();
    isUnseen(page, USER);
    await closePage(page);
  });
}

for (const Hand of HANDS) {
  test(`a page and an action open by their names by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    const asked = page.requests.length;
    const open = async (text, name) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(text);
      const link = page.getByRole("search").getByRole("link", { name, exact: true });
      if (!(hand instanceof Keyboard)) return link.click();
      await link.waitFor();
      for (let moves = 0; !(await link.evaluate((one) => one === document.activeElement)); moves += 1) {
        assert.ok(moves < 9, "arrows reach the link");
        await page.keyboard.press("ArrowDown");
      }
      await page.keyboard.press("Enter");
    };
    await open("off", "Offers");
    await page.getByRole("heading", { name: "Offers", exact: true }).waitFor();
    assert.ok(!page.requests.slice(asked).some((request) => request.endsWith("/search")), "no server was asked");
    assert.equal(await box(page).inputValue(), "");
    // A dialog opens where one is already, too.
    for (const [text, name, title] of [
      ["new off", "New offer", "Create an offer"],
      ["publ new", "New publisher", "Create a publisher"],
    ]) {
      await open(text, name);
      await page.getByRole("dialog", { name: title }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      assert.equal(new URL(page.url()).hash, "");
    }
    await open("appr", "Approve held rewards");
    await page.waitForURL(/\/console\?kind=held$/);
    await closePage(page);
  });
}

test("support is offered pages, and no changes", async () => {
  const cookie = await signInToConsole(shared.signpost, "support", "Sam Idowu");
  const page = await shared.open({ cookie });
  await page.goto("/console/service#new");
  await page.getByRole("heading", { name: "Service" }).waitFor();
  await box(page).fill("offer");
  await page.getByRole("search").getByRole("link", { name: "Offers", exact: true }).waitFor();
  assert.equal(await page.getByRole("search").getByRole("link").count(), 1);
  await page.goto("/console/offers#new");
  await page.getByRole("heading", { name: "Offers", exact: true }).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await closePage(page);
});

/** Nor do the address bar, the history's state and the browser's stores contain the pasted text. */
async function isInMemoryAlone(page, text) {
  isUnseen(page, text);
  const { href, state, kept } = await page.evaluate(() => ({
    href: location.href,
    state: JSON.stringify(history.state),
    kept: JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
  }));
  assert.equal(new URL(href).pathname, "/console/search");
  for (const place of [decodeURIComponent(href), state, kept]) assert.ok(!place.includes(text), place);
}

for (const Hand of HANDS) {
  test(`a key shows which one it is and whether it is valid by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
    const hand = new Hand(page);
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    const found = page.getByRole("table", { name: "1 match" });
    const { valid, revoked } = keys;
    const beginning = valid.api_key.slice(0, -8);
    for (const [text, name, ...words] of [
      [valid.api_key, "data warehouse", "Valid", valid.key_id, `of publisher ${DEMO}`],
      [revoked.api_key, "Report key", "Revoked", "Requests for reports with it are refused."],
      [beginning, "Report key", "Not a whole key"],
      [partner.token, /^Serial /, "Valid", "of advertiser seeker"],
      [partner.token.slice(0, -8), /^Serial /, "Not a whole token"],
    ]) {
      await paste(page, hand, text);
      await found.getByRole("link", { name }).waitFor();
      for (const word of words)
        await found
          .getByText(word, { exact: word.length < 10 })
          .first()
          .waitFor();
      await isInMemoryAlone(page, text);
    }
    await paste(page, hand, valid.api_key);
    await hand.press(found.getByRole("link", { name: "data warehouse" }));
    await page.waitForURL(/\/publishers\/lumen-arcade\?section=keys$/);
    await page.getByRole("table", { name: "Report keys" }).getByText("data warehouse").waitFor();
    await page.goBack();
    await found.getByText("Valid", { exact: true }).waitFor();
    await isInMemoryAlone(page, valid.api_key);
    // Somebody else's link contains the key.
    await page.goto(`/console/search#${new URLSearchParams({ text: revoked.api_key })}`);
    await page.waitForURL(/\/search$/);
    await found.getByText("Revoked", { exact: true }).waitFor();
    await isInMemoryAlone(page, revoked.api_key);
    await closePage(page);
  });

  test(`a Pub-Key opens its publisher's keys, and is in no address, by ${Hand.handName}`, async () => {
    const { pub_key: pubKey } = await shared.signpost.operator("GET", `/publishers/${DEMO}/pub_key`);
    const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
    const addresses = [];
    page.on("framenavigated", (frame) => addresses.push(frame.url()));
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    await paste(page, new Hand(page), pubKey);
    await page.waitForURL(/\/publishers\/lumen-arcade\?section=keys$/);
    isUnseen(page, pubKey);
    assert.ok(!addresses.join().includes(pubKey), addresses.join());
    // A text that looks like a credential may also be a user's ID.
    const other = "0123456789ABCDEF0123456789ABCDEF";
    await paste(page, new Hand(page), other);
    await page.getByText("No key or token matches.").waitFor();
    await new Hand(page).write(page.getByLabel("App", { exact: true }), WEB_APP);
    await page.keyboard.press("Enter");
    await page.getByText("No match").waitFor();
    await isInMemoryAlone(page, other);
    await closePage(page);
  });

  test(`a click that nobody converted leads to its advertiser's postbacks by ${Hand.handName}`, async () => {
    const click = await partner.click(`unpaid-${Hand.handName}`);
    const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
    const hand = new Hand(page);
    await page.goto("/console/service");
    await page.getByRole("heading", { name: "Service" }).waitFor();
    await paste(page, hand, click);
    await page.getByText("No conversion of this click has arrived.").waitFor();
    await hand.press(page.getByRole("link", { name: "Postbacks of seeker" }));
    await page.waitForURL(/\/advertisers\/seeker$/);
    await page.getByRole("heading", { name: "Postbacks", exact: true }).waitFor();
    await closePage(page);
  });
}

test("a part that does not answer is said, and nothing opens by itself", async () => {
  const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
  await answerFor(page, "POST", "search", {
    json: {
      needs_app: false,
      is_incomplete: true,
      matches: [{ kind: "publisher", publisher_id: DEMO, name: "Lumen Arcade", approved: true }],
    },
  });
  await page.goto(`/console/search#${new URLSearchParams({ text: DEMO })}`);
  await page.getByText("A part of Signpost did not answer").waitFor();
  await page.getByRole("link", { name: "Lumen Arcade", exact: true }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/console/search");
  await closePage(page);
});

test("a search without results says so, and a key alone is no shortcut", async () => {
  const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
  await page.goto(`/console/search#${new URLSearchParams({ text: "no-such-user", app: WEB_APP })}`);
  await page.getByText("No match").waitFor();
  await page.getByRole("heading", { name: "Search" }).focus();
  await page.keyboard.press("/");
  await page.keyboard.press("k");
  assert.equal(await box(page).inputValue(), "");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("/k");
  assert.equal(await box(page).inputValue(), "/k");
  await closePage(page);
});

// This test stops Signpost for a moment, so it runs last.
test("a click whose record has left shows what became of it", async () => {
  const [unpaid, paid] = [await partner.click("left-unpaid"), await partner.click("left-paid")];
  const { transaction_id: transactionId } = await partner.convert(paid);
  await shared.signpost.restart(expireClicks);
  const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
  const hand = new Keyboard(page);
  await page.goto("/console/service");
  await page.getByRole("heading", { name: "Service" }).waitFor();
  await paste(page, hand, unpaid);
  await page.getByRole("heading", { name: "Click that is no longer stored" }).waitFor();
  await page.getByText("No conversion of this click came in time.").waitFor();
  await paste(page, hand, paid);
  const became = page.getByRole("table", { name: "Rewards of this click" });
  await hand.press(became.getByRole("link", { name: transactionId }));
  await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
  await closePage(page);
});

test("lists are in the order of their names where somebody asks for it, on all of their pages", async () => {
  const { signpost } = shared;
  for (let n = 0; n < 60; n += 1) {
    const id = `sorted-${String(n).padStart(2, "0")}`;
    await signpost.operator("PUT", `/publishers/${id}`, { name: `Studio ${99 - n}`, approved: true });
  }
  const page = await shared.open({ cookie: admin });
  for (const [path, header] of [
    ["publishers", "Publisher"],
    ["offers", "Offer"],
    ["advertisers", "Advertiser"],
  ]) {
    await page.goto(`/console/${path}`);
    await page.getByRole("columnheader", { name: header, exact: true }).getByRole("button").click();
    await page.waitForURL(/[?&]sort=name/);
    await page.locator("th[aria-sort=ascending]").waitFor();
    await page.waitForFunction(() => document.activeElement.matches("th[aria-sort=ascending] button"));
    const more = page.getByRole("button", { name: "Load more" });
    const rows = page.locator("main table tbody tr");
    while (await more.isVisible()) {
      const before = await rows.count();
      await more.click();
      await page.waitForFunction((before) => document.querySelectorAll("main table tbody tr").length > before, before);
    }
    const names = (await rows.locator("th a").allInnerTexts()).map((name) => name.toLowerCase());
    assert.ok(names.length > (path === "publishers" ? 60 : 3), path);
    assert.deepEqual(names, [...names].sort(), path);
    await page.getByRole("columnheader", { name: header, exact: true }).getByRole("button").click();
    await page.waitForURL((url) => !url.search.includes("sort"));
  }
  await closePage(page);
});
