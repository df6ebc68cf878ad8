// The operator's work with publishers and their apps, by mouse and again by keyboard alone, on a wide screen and on a
// phone; and how the pages look.

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeConsole, views } from "./gallery/console-publishers.mjs";
import { closePage, WIDTHS } from "./support/browser.mjs";
import { answerFor, signInToConsole } from "./support/console.mjs";
import { ago, CHANGED, daysInEachState, factsOf, restated } from "./support/days.mjs";
import { today } from "./support/facts.mjs";
import { look } from "./support/gallery.mjs";
import { HANDS, WAYS } from "./support/hands.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { advertiserToken, earn, sendCallbacksTo } from "./support/rewards.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";
import * as apps from "./tasks/console-apps.mjs";
import * as tasks from "./tasks/console-publishers.mjs";

let members;
let token;
const shared = suite({}, async (signpost) => {
  token = await advertiserToken(signpost);
  members = await makeConsole(signpost, token);
});

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const FIGURES = "POST /v1/operator/publisher_figures";
const HEADER =
  "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue";
const fact = (date, impressions) =>
  `${HEADER}\n${date},10000001,DE,end,open,northlight,6.2.0,1000,900,${impressions},20,9.5\n`;

for (const [Hand, width] of WAYS) {
  const by = `by ${Hand.handName} at ${width} px`;

  test(`an admin takes in a publisher and suspends it ${by}`, async () => {
    const { signpost } = shared;
    const name = `Kite Games ${Hand.handName} ${width}`;
    const refusals = [
      [412, "/v1/operator/publishers/lumen-arcade"],
      [404, /pub_key$/],
      [400, /facts/],
    ];
    const page = await shared.open({ width, cookie: members.admin, refusals });
    const hand = new Hand(page);

    const id = await tasks.createPublisher(page, hand, name);
    await tasks.approve(page, hand, name);
    assert.deepEqual(await signpost.operator("GET", `/publishers/${id}`), { publisher_id: id, name, approved: true });

    await tasks.openSection(page, hand, "People");
    assert.match(await tasks.invite(page, hand, "Ana Ruiz"), /\/dashboard#invite=inv_p_/);
    await tasks.withdraw(page, hand, "Ana Ruiz");
    const owner = await signpost.signIn(id, "owner", "Mia Chen");
    await page.reload();
    await tasks.recover(page, hand, "Mia Chen");
    const reads = () => signpost.dashboard(owner, "GET", "/members");
    await assert.rejects(reads, /401/, "a recovery ends the member's sessions");

    await tasks.openSection(page, hand, "Keys");
    const pubKey = await tasks.issueFirstPubKey(page, hand, name);
    assert.equal((await signpost.operator("GET", `/publishers/${id}/pub_key`)).pub_key, pubKey);
    const key = await tasks.createReportKey(page, hand, "data warehouse");
    assert.equal(await reportStatus(signpost, key), 204);
    await tasks.revokeReportKey(page, hand, "data warehouse");
    assert.equal(await reportStatus(signpost, key), 401);
    const eraser = await tasks.createReportKey(page, hand, "support desk", "Erases users");
    assert.equal(await reportStatus(signpost, eraser), 401);
    await page.getByRole("cell", { name: "Erases users" }).waitFor();

    await tasks.openSection(page, hand, "Facts");
    const date = "2026-11-03";
    await tasks.loadDay(page, hand, date, { wrong: fact(date, "many"), right: fact(date, 800), rows: 1 });
    const { days } = await signpost.operator("GET", `/publishers/${id}/facts`);
    assert.deepEqual(
      days.map(({ date, loaded }) => [date, loaded.impressions]),
      [[date, 800]],
    );

    await tasks.openSection(page, hand, "Overview");
    await tasks.raiseApps(page, hand, "30");
    assert.equal((await signpost.operator("GET", `/publishers/${id}`)).max_apps, 30);
    await tasks.suspend(page, hand, name);
    assert.equal((await signpost.operator("GET", `/publishers/${id}`)).approved, false);
    await closePage(page);
  });

  test(`an admin decides about an app and repairs its callback ${by}`, async (context) => {
    const { signpost } = shared;
    const receiver = await startReceiver();
    context.after(receiver.stop);
    receiver.secrets = [SECRET];
    const appId = await addApp(signpost, receiver.url);
    const path = new RegExp(`^/v1/operator/apps/${appId}$`);
    const page = await shared.open({
      width,
      cookie: members.admin,
      refusals: [
        [400, path],
        [412, path],
      ],
    });
    const hand = new Hand(page);
    await page.goto(`/console/apps/${appId}`);

    await apps.testCallback(page, hand, "The receiver accepted the call (200).");
    assert.match(receiver.calls.at(-1).query.transaction_id, /^test-/);
    await apps.decide(page, hand);
    const kept = await signpost.operator("GET", `/apps/${appId}`);
    assert.deepEqual(kept.callback_ports, [8443, 9443]);
    assert.deepEqual(kept.fallback_hosts, ["play.lumen-arcade.example"]);
    assert.equal(kept.max_rewards_per_user_day, 20);
    await apps.decideAfterAnother(page, hand, () => putApp(signpost, appId, { max_rewards_per_user_day: 25 }));
    await apps.payOlderClicks(page, hand);
    assert.ok((await signpost.operator("GET", `/apps/${appId}`)).terms_since > Date.now() / 1000 - 600);

    // The secret was kept under its mask: the receiver takes what is signed with it.
    await signpost.operator("POST", "/refresh");
    receiver.failsWith = 410;
    await earn(signpost, token, `player-${appId}`, appId);
    await isDisabled(signpost, appId);
    await page.reload();
    receiver.failsWith = null;
    await apps.enableCallback(page, hand);
    await until(async () => (await signpost.operator("GET", `/apps/${appId}/callback`)).waiting === 0);
    assert.equal(receiver.calls.at(-1).status, 200);

    await until(
      async () => (await signpost.operator("GET", `/reconcile?app=${appId}&date=${today()}`)).waiting_micro_usd === 0,
    );
    await apps.reconcile(page, hand, today(), /agrees: every reward and reversal is in the ledger\.$/);
    await page.getByText("1 reward. 0 (0.0%) came more than 24 hours after the click", { exact: false }).waitFor();
    await closePage(page);
  });
}

for (const Hand of HANDS) {
  test(`an admin closes a publisher for good by ${Hand.handName}`, async () => {
    const { signpost } = shared;
    const name = `Otter Works ${Hand.handName}`;
    const id = await signpost.addPublisher(name);
    const page = await shared.open({ cookie: members.admin });
    const hand = new Hand(page);
    await page.goto(`/console/publishers/${id}`);
    await tasks.close(page, hand, name, id);
    const { approved, closed } = await signpost.operator("GET", `/publishers/${id}`);
    assert.deepEqual({ approved, closed }, { approved: false, closed: true });
    await page.goto("/console/publishers");
    await page.getByRole("row").filter({ hasText: id }).getByText("Closed", { exact: true }).waitFor();
    const reopened = { name, approved: true };
    await assert.rejects(signpost.operator("PUT", `/publishers/${id}`, reopened), /409/, "nobody opens it again");
    await closePage(page);
  });
}

test("a request for a new Pub-Key stands above the publishers and is closed by the new key", async () => {
  const { signpost } = shared;
  const [Hand] = HANDS;
  const page = await shared.open({ cookie: members.admin });
  const hand = new Hand(page);
  await page.goto("/console/publishers");
  const requests = page.getByRole("table", { name: "Requests for a new Pub-Key" });
  const id = await signpost.addPublisher("Otter Works");
  await signpost.operator("POST", `/publishers/${id}/pub_key`);
  const owner = await signpost.signIn(id);
  await signpost.dashboard(owner, "POST", "/pub_key/request", { reason: "It was published by mistake." });
  await page.reload();
  await requests.getByText("It was published by mistake.").waitFor();
  await hand.press(page.getByRole("button", { name: `Issue a new key: ${id}` }));
  await page
    .getByRole("dialog")
    .getByText(/The current key stops working everywhere within two minutes/)
    .waitFor();
  const key = await tasks.takeKey(page, hand);
  assert.equal((await signpost.operator("GET", `/publishers/${id}/pub_key`)).pub_key, key);
  await requests.getByText("It was published by mistake.").waitFor({ state: "detached" });
  await closePage(page);
});

test("the list of publishers has their figures from one call, and leads to what is open", async () => {
  const page = await shared.open({ cookie: members.admin });
  await page.goto("/console/publishers");
  const row = page.getByRole("row", { name: /^Lumen Arcade/ });
  await row.getByRole("link", { name: "1 callback switched off" }).waitFor();
  const [, , count] = await row.getByRole("cell").allInnerTexts();
  assert.match(count, /^[1-9]/, "rewards");
  assert.equal(page.requests.filter((request) => request === FIGURES).length, 1);
  await row.getByRole("link", { name: "1 callback switched off" }).click();
  await page.waitForURL(/\/console\?kind=disabled$/);
  await closePage(page);
});

test("a figure that does not come is a dash that says so", async () => {
  const page = await shared.open({ cookie: members.admin, refusals: [[500, "/v1/operator/publisher_figures"]] });
  await answerFor(page, "POST", "publisher_figures", { json: { figures: {} } });
  await page.goto("/console/publishers");
  const row = page.getByRole("row", { name: /^Lumen Arcade/ });
  await row.getByTitle("The figures of this publisher could not be loaded.").first().waitFor();
  await page.unrouteAll();
  const failing = { status: 500, json: { code: "internal_error", error: "the test refuses this call" } };
  await answerFor(page, "POST", "publisher_figures", failing);
  await page.reload();
  await page.getByText("The figures of the last 30 days could not be loaded.").waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await row.getByRole("link", { name: "1 callback switched off" }).waitFor();
  assert.equal(await page.getByText("could not be loaded").count(), 0);
  await closePage(page);
});

test("support reads everything of a publisher and changes nothing", async () => {
  const cookie = await signInToConsole(shared.signpost, "support", "Sam Okafor");
  const page = await shared.open({ cookie });
  const main = page.getByRole("main");
  const changes =
    /Create|Approve|Suspend|Close|Edit|Invite|Recovery|Withdraw|Issue|Show the|Revoke|Replace|Restate|Nothing to|Load a day|Save|Pay|Send|Switch/;
  for (const [path, shown] of [
    ["/console/publishers", "Lumen Arcade"],
    [`/console/publishers/${DEMO}`, "Lumen Arcade for iOS"],
    [`/console/publishers/${DEMO}?section=people`, "Open invites"],
    [`/console/publishers/${DEMO}?section=keys`, "Only admins can see the Pub-Key"],
    [`/console/publishers/${DEMO}?section=facts`, "Loaded revenue"],
    [`/console/publishers/${DEMO}?section=audit`, "Audit log"],
    ["/console/apps/10000001", "Blocked offers"],
  ]) {
    await page.goto(path);
    await main.getByText(shown).first().waitFor();
    await page.waitForFunction(() => !document.querySelector(".skeleton"));
    assert.deepEqual(await main.getByRole("button", { name: changes }).allInnerTexts(), [], path);
  }
  await closePage(page);
});

const FACTS = `/console/publishers/${DEMO}?section=facts`;

for (const Hand of HANDS) {
  test(`a day is restated after its changes were shown by ${Hand.handName}`, async () => {
    const date = ago(9);
    const path = `/v1/operator/publishers/${DEMO}/days/${date}/restate`;
    const refusals = [
      [503, path],
      [409, path],
    ];
    const page = await shared.open({ cookie: members.admin, refusals });
    const hand = new Hand(page);
    const days = daysInEachState();
    await factsOf(page, days);
    const refuse = (status, code, error) => ({ status, json: { code, error } });
    const answers = [
      refuse(503, "unavailable", "counters-3 does not answer: nothing was changed; try again"),
      { json: restated(date, { ...CHANGED, not_kept: ["counters-3"] }) },
      refuse(409, "day_not_kept", "a segment of the day is damaged"),
      { json: restated(date, { ...CHANGED, dry_run: false }) },
    ];
    const asked = [];
    await page.route(
      (url) => url.pathname === path,
      (route) => {
        asked.push(new URL(route.request().url()).search);
        return route.fulfill(answers[asked.length - 1]);
      },
    );
    await page.goto(FACTS);
    const row = page.getByRole("row").filter({ hasText: "Final, unconfirmed" });
    await hand.press(row.getByRole("button", { name: /^Restate / }));
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Counters-3 does not answer: nothing was changed; try again.").waitFor();
    const start = dialog.getByRole("button", { name: "Restate the day" });
    assert.equal(await start.count(), 0, "nothing is changed that was not shown");
    await hand.press(dialog.getByRole("button", { name: "Try again" }));
    await dialog.getByText("Clicks or revenue of 1 app would change.").waitFor();
    await dialog.getByText(/^1 source no longer has all of this day.* counters-3\.$/).waitFor();
    const all = dialog.getByRole("row", { name: /^All apps/ }).getByRole("cell");
    assert.deepEqual(await all.allInnerTexts(), ["812", "812", "$31.50", "$37.750001"]);
    const app = dialog.getByRole("row", { name: /10000001/ }).getByRole("cell");
    assert.deepEqual(await app.allInnerTexts(), ["640", "640", "$20.00", "$26.250001"]);
    await hand.press(start);
    await dialog.getByText("A segment of the day is damaged.").waitFor();
    Object.assign(days[4], { state: "final" });
    await hand.press(start);
    await dialog.waitFor({ state: "detached" });
    await tasks.said(page, /was restated\.$/);
    await row.waitFor({ state: "detached" });
    assert.deepEqual(asked, ["?dry_run=true", "?dry_run=true", "?dry_run=false", "?dry_run=false"]);
    await closePage(page);
  });

  test(`a day without facts is said to have nothing to load by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: members.admin });
    const hand = new Hand(page);
    const days = daysInEachState();
    await factsOf(page, days);
    const bodies = [];
    await page.route(
      (url) => url.pathname === `/v1/operator/publishers/${DEMO}/facts/${ago(1)}`,
      (route) => {
        const request = route.request();
        bodies.push([request.method(), request.headers()["content-type"], request.postData()]);
        Object.assign(days[1], { state: "open" });
        return route.fulfill({ json: { rows: 0 } });
      },
    );
    await page.goto(FACTS);
    const nothing = page.getByRole("button", { name: /^Nothing to load/ });
    await nothing.waitFor();
    assert.equal(await nothing.count(), 1, "neither a day that is not over nor one that is loaded");
    await hand.press(nothing);
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: /^Nothing to load for \d+ \w+ \d{4}\?$/ }).waitFor();
    await hand.press(dialog.getByRole("button", { name: "Nothing to load" }));
    await tasks.said(page, /has nothing to load\.$/);
    await nothing.waitFor({ state: "detached" });
    const header =
      "date,app_id,app_name,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n";
    assert.deepEqual(bodies, [["PUT", "text/csv", header]]);
    await closePage(page);
  });
}

for (const name of Object.keys(views({}))) {
  for (const width of WIDTHS) {
    test(`${name} at ${width} px`, () => look(shared, name, views(members)[name], width));
  }
}

async function putApp(signpost, appId, change) {
  const { app_id, terms_revision, ...document } = await signpost.operator("GET", `/apps/${appId}`);
  await signpost.operator("PUT", `/apps/${appId}`, { ...document, ...change });
}

let added = 0;

/** An app of the demo's publisher, whose callbacks go to a receiver. */
async function addApp(signpost, url) {
  const appId = String(20_000_000 + ++added);
  const currency = { name: "Coins", per_usd: 1000, decimals: 0, rounding: "down" };
  await signpost.operator("PUT", `/apps/${appId}`, {
    publisher_id: DEMO,
    name: "Night Quiz",
    platform: "android",
    currency,
  });
  await sendCallbacksTo(signpost, url, SECRET, appId);
  await signpost.operator("POST", "/refresh");
  return appId;
}

const isDisabled = (signpost, appId) =>
  until(async () => (await signpost.operator("GET", `/apps/${appId}/callback`)).state === "disabled");

async function until(isSo) {
  for (let tries = 0; !(await isSo()); tries += 1) {
    assert.ok(tries < 100, "it happens in time");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The status of the smallest report that the public API makes. */
async function reportStatus(signpost, key) {
  const answer = await signpost.report(key, {
    date_range: { start_date: "2026-11-01", end_date: "2026-11-02" },
    dimensions: ["app"],
    metrics: ["revenue"],
  });
  await answer.arrayBuffer();
  return answer.status;
}
