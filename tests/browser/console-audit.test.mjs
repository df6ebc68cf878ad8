// The console's audit describes each kind of change that a member makes in words, with links to the changed objects.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, WIDTHS } from "./support/browser.mjs";
import { operate, signInToConsole } from "./support/console.mjs";
import { look } from "./support/gallery.mjs";
import { HANDS } from "./support/hands.mjs";
import { advertiserToken, report, SURVEY, VISIT, WEB_APP } from "./support/rewards.mjs";
import { suite } from "./support/suite.mjs";

const AUDIT = "/console/settings/audit";
const PUBLISHER = "kite-games";
const HEADER =
  "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue";
const FACTS = `${HEADER}\n2026-11-03,10000001,DE,end,open,northlight,6.2.0,1000,900,800,20,9.5\n`;

let admin;
/** Rows of the audit: the action, and texts of its object. */
let expected;

const shared = suite({ facts: false }, async (signpost) => {
  const surveys = await advertiserToken(signpost, SURVEY.advertiser);
  const visits = await advertiserToken(signpost, VISIT.advertiser);
  admin = await signInToConsole(signpost);
  const make = (method, path, body) => operate(signpost, admin, method, path, body);

  await make("PUT", `/publishers/${PUBLISHER}`, { name: "Kite Games", approved: false });
  await make("PUT", `/publishers/${PUBLISHER}`, { name: "Kite Games", approved: true, max_apps: 30 });
  await make("POST", `/publishers/${PUBLISHER}/invites`, { name: "Ana, Ruiz", role: "owner" });
  await make("POST", `/publishers/${PUBLISHER}/pub_key`);
  const key = await make("POST", `/publishers/${PUBLISHER}/report_keys`, { label: "Looker, daily" });
  await make("DELETE", `/publishers/${PUBLISHER}/report_keys/${key.key_id}`);
  const { app_id, terms_revision, ...app } = await signpost.operator("GET", `/apps/${WEB_APP}`);
  await make("PUT", `/apps/${WEB_APP}`, { ...app, max_rewards_per_user_day: 50, fallback_hosts: ["play.example.com"] });
  await make("PUT", "/advertisers/kite", { name: "Kite" });
  const token = await make("POST", "/advertisers/kite/token");
  await make("DELETE", `/advertisers/kite/token/${token.token_id}`);
  const {
    offer_id,
    updated_at,
    terms_revision: _,
    retired_goals,
    ...offer
  } = await signpost.operator("GET", `/offers/${SURVEY.offer}`);
  await make("PUT", `/offers/${SURVEY.offer}`, { ...offer, name: "Paper Lantern", starts_at: 1_700_000_000 });
  await make("PUT", "/publishers/lumen-arcade/facts/2026-11-03", FACTS);
  await make("POST", "/publishers/lumen-arcade/days/2026-11-03/restate");
  await make("POST", "/refresh");
  const one = await report(signpost, visits, VISIT, "held-1");
  for (const user of ["held-2", "held-3"]) await report(signpost, visits, VISIT, user);
  const taken = await report(signpost, surveys, SURVEY, "taken");
  await make("POST", `/apps/${WEB_APP}/conversions/${one.transactionId}/approve`, {
    reason: "the advertiser saw the visit",
  });
  await make("POST", `/apps/${WEB_APP}/conversions/${taken.transactionId}/reverse`, { reason: "a click farm" });
  const many = { filter: { status: "held", reason: "too_fast" }, reason: "a click farm" };
  const { until } = await make("POST", `/apps/${WEB_APP}/conversions/reject`, { ...many, dry_run: true });
  await make("POST", `/apps/${WEB_APP}/conversions/reject`, { ...many, filter: { ...many.filter, until } });
  await make("POST", `/apps/${WEB_APP}/erase_user`, { user_id: "taken" });
  await make("POST", "/members/invites", { name: "Sam Idowu", role: "support" });

  expected = [
    ["Created a publisher", `Publisher ${PUBLISHER}`],
    ["Changed a publisher", `Publisher ${PUBLISHER}`, "Approval: no → yes; Apps it may set up by itself: none → 30"],
    ["Invited somebody to a publisher", `Publisher ${PUBLISHER}`, "Ana, Ruiz, Owner"],
    ["Issued a Pub-Key", `Publisher ${PUBLISHER}`],
    ["Created a report key", `Publisher ${PUBLISHER}`, `“Looker, daily”, key ${key.key_id}`],
    ["Revoked a report key", `Publisher ${PUBLISHER}`, `key ${key.key_id}`],
    ["Changed an app", `App ${WEB_APP}`, "Fallback hosts: none → play.example.com; Rewards per user per day: 3 → 50"],
    ["Created an advertiser", "Advertiser kite"],
    ["Issued a token", "Advertiser kite", `serial ${token.token_id}`],
    ["Revoked a token", "Advertiser kite", `serial ${token.token_id}`],
    [
      "Changed an offer",
      `Offer ${SURVEY.offer}`,
      `Name: ${offer.name} → Paper Lantern; Start: none → 14 Nov 2023, 22:13 UTC`,
    ],
    ["Replaced a day of facts", "Publisher lumen-arcade", "3 Nov 2026, 1 row"],
    ["Restated a day", "Publisher lumen-arcade", "3 Nov 2026"],
    ["Published all changes"],
    ["Approved a reward", `App ${WEB_APP}`, one.transactionId, "“the advertiser saw the visit”"],
    ["Reversed a reward", `App ${WEB_APP}`, taken.transactionId, "“a click farm”"],
    [
      "Rejected conversions",
      `App ${WEB_APP}`,
      /^2 of 2 that were held for review, with the reason “The conversion came sooner .*”.*: “a click farm”$/,
    ],
    ["Erased a user", `App ${WEB_APP}`],
    ["Invited a member", "Sam Idowu", /Support$/],
  ];
});

for (const Hand of HANDS) {
  test(`what a member changed is read in words, and followed by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await page.goto("/console/settings/members");
    await hand.press(page.getByRole("link", { name: "Audit log" }));
    const table = page.getByRole("table", { name: "Audit log" });
    await table.getByText("Erased a user").waitFor();
    for (const [action, ...texts] of expected) {
      let rows = table.getByRole("row").filter({ has: page.getByText(action, { exact: true }) });
      for (const text of texts) rows = rows.filter({ has: page.getByText(text, { exact: false }) });
      assert.ok((await rows.count()) >= 1, `${action}: ${texts.join(" | ")}\n${await table.innerText()}`);
    }
    // No code of an action, nor the id of a user.
    const all = await table.innerText();
    assert.doesNotMatch(all, /[a-z]+_[a-z]+/);
    assert.doesNotMatch(all, /\btaken\b|held-\d/);

    const linkOf = (action, name) =>
      table.getByRole("row").filter({ hasText: action }).getByRole("link", { name }).first();
    for (const [action, name, path] of [
      ["Reversed a reward", /^Reward/, /\/apps\/10000003\/rewards\/[^/]+$/],
      ["Erased a user", /^App/, /\/apps\/10000003$/],
      ["Issued a token", /^Advertiser/, /\/advertisers\/kite$/],
      ["Changed an offer", /^Offer/, /\/offers\/70155$/],
      ["Revoked a report key", /^Publisher/, /\/publishers\/kite-games\?section=keys$/],
    ]) {
      await hand.press(linkOf(action, name));
      await page.waitForURL(path);
      await page.goBack();
      await table.getByText("Erased a user").waitFor();
    }
    await closePage(page);
  });
}

/** The question that removes a member of the operator, opened. */
const removal = (name) => ({
  path: "/console/settings/members",
  cookie: admin,
  isOverlay: true,
  act: (page) => page.getByRole("button", { name: `Remove ${name}` }).click(),
  shows: (page) => page.getByText("Secrets they may know").waitFor(),
});

for (const width of WIDTHS) {
  test(`console-audit at ${width} px`, () => {
    const shows = (page) => page.getByText("Erased a user").first().waitFor();
    return look(shared, "console-audit", { path: AUDIT, cookie: admin, shows }, width);
  });
}

for (const width of WIDTHS) {
  test(`console-members-remove at ${width} px`, async () => {
    await signInToConsole(shared.signpost, "admin", `Pia Holm ${width}`);
    await look(shared, "console-members-remove", removal(`Pia Holm ${width}`), width);
  });
}

test("the removal of an admin says what stays valid", async () => {
  const pia = await signInToConsole(shared.signpost, "admin", "Pia Adeyemi");
  await signInToConsole(shared.signpost, "support", "Sam Idowu");
  const page = await shared.open({ cookie: admin });
  const { path, act } = removal("Sam Idowu");
  await page.goto(path);
  await act(page);
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/^Support sees the callback URLs, and no keys or tokens/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await removal("Pia Adeyemi").act(page);
  await dialog.getByText(/^All of this stays valid\./).waitFor();
  const places = { Publishers: "/console/publishers", Advertisers: "/console/advertisers", "Audit log": AUDIT };
  for (const [name, href] of Object.entries(places)) {
    assert.equal(await dialog.getByRole("link", { name, exact: true }).getAttribute("href"), href);
  }
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText("Pia Adeyemi was removed.").waitFor({ state: "attached" });
  await assert.rejects(operate(shared.signpost, pia, "GET", "/publishers"));
  await closePage(page);
});
