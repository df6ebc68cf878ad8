// A publisher watches and repairs its rewards without asking anyone: by mouse and again by keyboard alone, on a wide screen
// and on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, WIDTHS } from "./support/browser.mjs";
import { HANDS, WAYS } from "./support/hands.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { advertiserToken, APP, earn, sendCallbacksTo } from "./support/rewards.mjs";
import { suite } from "./support/suite.mjs";
import * as rewards from "./tasks/rewards.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
let token;
const shared = suite({}, async (signpost) => {
  token = await advertiserToken(signpost);
});

for (const [Hand, width] of WAYS) {
  test(`a publisher repairs a reward by ${Hand.handName} at ${width} px`, async (context) => {
    const { signpost } = shared;
    const receiver = await startReceiver();
    context.after(receiver.stop);
    receiver.secrets = [SECRET];
    receiver.failsWith = 500;
    await sendCallbacksTo(signpost, receiver.url, SECRET);
    const page = await shared.open({ width, cookie: await signpost.signIn() });
    const hand = new Hand(page);
    const user = `player-${Hand.handName}-${width}`;

    await rewards.openLog(page, hand);
    const transactionId = await rewards.watchReward(page, user, () => earn(signpost, token, user));
    await rewards.pauseLog(page, hand, `${user}-2`, () => earn(signpost, token, `${user}-2`));
    await rewards.filterByUser(page, hand, "Lumen Arcade for Android", user);
    const repair = () => {
      receiver.failsWith = null;
    };
    await rewards.replayFromStory(page, hand, { user, transactionId, repair });
    const later = `${user}-3`;
    receiver.failsWith = 500;
    await rewards.replayMany(page, hand, { app: APP, user: later, earn: () => earn(signpost, token, later), repair });
    assert.ok(receiver.calls.some(({ status, query }) => status === 200 && query.transaction_id === transactionId));
    await closePage(page);
  });
}

for (const [Hand, width] of WAYS) {
  test(`an owner downloads what is stored of a user and erases it by ${Hand.handName} at ${width} px`, async (context) => {
    const { signpost } = shared;
    const receiver = await startReceiver();
    context.after(receiver.stop);
    receiver.secrets = [SECRET];
    await sendCallbacksTo(signpost, receiver.url, SECRET);
    await signpost.operator("POST", "/refresh");
    const user = `player-to-erase-${Hand.handName}-${width}`;
    const transactionId = await earn(signpost, token, user);
    const page = await shared.open({ width, cookie: await signpost.signIn() });
    const hand = new Hand(page);
    await page.goto("/dashboard/rewards");
    const row = page.getByRole("row").filter({ hasText: user });
    await row.getByText("Delivered").waitFor();

    const file = await rewards.downloadUser(page, hand, user);
    assert.equal(file.user_id, user);
    assert.deepEqual(
      file.conversions.map((story) => story.transaction_id),
      [transactionId],
    );
    const cleared = { title: `${user} was erased`, text: "1 reward was cleared. 3 apps were searched." };
    await rewards.eraseUser(page, hand, user, cleared);
    await row.waitFor({ state: "detached" });
    await page.goto("/dashboard/settings/audit");
    const audit = page.getByRole("table", { name: "Audit log" });
    for (const action of ["Downloaded a user's data", "Erased a user"]) await audit.getByText(action).first().waitFor();
    assert.equal(await page.getByText(user).count(), 0, "the audit does not name the user");
    await closePage(page);
  });
}

test("all pages of what is stored of a user are asked for, and an erasure goes on where it failed", async () => {
  const page = await shared.open({
    cookie: await shared.signpost.signIn(),
    refusals: [[503, "/v1/dashboard/users/erase"]],
  });
  const asked = [];
  const answers = [
    { json: { conversions: [{ transaction_id: "a" }], cursor: "10000001.7" } },
    { json: { conversions: [{ transaction_id: "b" }], cursor: null } },
    { json: { apps: 250, erased: 2, waiting: 1, cursor: "10000250" } },
    { status: 503, json: { code: "unavailable", error: "busy" } },
    { json: { apps: 4, erased: 1, waiting: 1, cursor: null } },
    { json: { conversions: [], cursor: null } },
  ];
  await page.route("**/v1/dashboard/users/*", (route) => {
    const { pathname } = new URL(route.request().url());
    asked.push([pathname.split("/").pop(), route.request().postDataJSON()]);
    return route.fulfill(answers[asked.length - 1]);
  });
  await page.goto("/dashboard/rewards");
  const dialog = page.getByRole("dialog");
  const press = (name) => dialog.getByRole("button", { name, exact: true }).click();
  await page.getByRole("button", { name: "A user's data" }).click();
  await press("Erase");
  assert.ok(
    await dialog.getByLabel("User ID").evaluate((field) => field === document.activeElement),
    "an id is needed",
  );
  await dialog.getByLabel("User ID").fill(" player-1 ");
  const download = page.waitForEvent("download");
  await press("Download");
  await download;
  await dialog.getByText("The file has 2 rewards.").waitFor();
  await press("Erase");
  await press("Erase the user");
  await dialog.getByText(/^Signpost is busy/).waitFor();
  await press("Erase the user");
  await page.getByRole("dialog", { name: "player-1 is being erased" }).waitFor();
  await dialog
    .getByText("3 rewards were cleared. 2 rewards are cleared once their callbacks have ended. 254 apps were searched.")
    .waitFor();
  await press("Done");
  await page.getByRole("button", { name: "A user's data" }).click();
  await dialog.getByLabel("User ID").fill("player-2");
  await press("Download");
  await dialog.getByText("Nothing is stored about player-2.").waitFor();
  assert.deepEqual(asked, [
    ["export", { user_id: "player-1", cursor: null }],
    ["export", { user_id: "player-1", cursor: "10000001.7" }],
    ["erase", { user_id: "player-1", cursor: null }],
    ["erase", { user_id: "player-1", cursor: "10000250" }],
    ["erase", { user_id: "player-1", cursor: "10000250" }],
    ["export", { user_id: "player-2", cursor: null }],
  ]);
  await closePage(page);
});

test("a replay that cannot be watched any more says so, and is asked for again only by its reader", async () => {
  const path = `/v1/dashboard/apps/${APP}/replays`;
  const page = await shared.open({ cookie: await shared.signpost.signIn(), refusals: [[404, `${path}/42`]] });
  const started = { count: 3, until: Math.floor(Date.now() / 1000), replay_id: "42" };
  let answer = { json: { state: "running", replayed: 1 } };
  await page.route(
    (url) => url.pathname === path,
    (route) => route.fulfill({ json: started }),
  );
  await page.route(
    (url) => url.pathname === `${path}/42`,
    (route) => route.fulfill(answer),
  );
  await page.goto(`/dashboard/rewards?app=${APP}`);
  await page.getByRole("button", { name: "Send callbacks again" }).click();
  await page.getByRole("button", { name: "Send 3 callbacks again", exact: true }).click();
  await page.getByText("Queueing callbacks to be sent again: 1 of 3.").waitFor();
  answer = { status: 404, json: { code: "not_found", error: "no replay has this id" } };
  await page.getByText("No replay has this id.").waitFor();
  const asked = () => page.requests.filter((request) => request === `GET ${path}/42`).length;
  const before = asked();
  await page.waitForTimeout(5000);
  assert.equal(asked(), before, "a request that is wrong stays wrong");
  answer = { json: { state: "done", replayed: 3 } };
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("3 callbacks were queued to be sent again.").waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "Send callbacks again" }).waitFor();
  await closePage(page);
});

test("the live log pauses by itself where its reader has gone far back, and starts again with the newest", async () => {
  const cookie = await shared.signpost.signIn();
  await earn(shared.signpost, token, "player-of-the-long-log");
  // A log of thousands is made of one reward.
  const newest = () => shared.signpost.dashboard(cookie, "POST", "/rewards", { limit: 1 });
  let real = await newest();
  while (real.rows.length === 0) real = await newest();
  const rows = (from, number) =>
    Array.from({ length: number }, (_, index) => ({
      ...real.rows[0],
      transaction_id: `row-${from + index}`,
      conversion_ts: real.rows[0].conversion_ts - from - index,
    }));
  const page = await shared.open({ cookie });
  await page.route("**/v1/dashboard/rewards", (route) => {
    const { cursor, after } = route.request().postDataJSON();
    const json = after
      ? { ...real, rows: [], cursor: null }
      : cursor
        ? { ...real, rows: rows(Number(cursor), 500), cursor: String(Number(cursor) + 500) }
        : { ...real, rows: rows(0, 50), cursor: "50" };
    return route.fulfill({ json });
  });
  await page.goto("/dashboard/rewards");
  const log = page.getByRole("table", { name: "Rewards", exact: true });
  const haveRows = (number) =>
    page.waitForFunction((rows) => document.querySelectorAll("main tbody tr").length === rows, number);
  await log.waitFor();
  const older = page.getByRole("button", { name: "Show older rewards" });
  await older.click();
  await haveRows(550);
  await page.getByText(/^(Live|Behind by .*)$/).waitFor();
  await older.click();
  await haveRows(1050);
  await page.getByText("Paused while older rewards are open").waitFor();
  const calls = page.requests.length;
  await page.waitForTimeout(5000);
  assert.equal(page.requests.length, calls, "nothing is asked for");
  await older.click();
  await haveRows(1550);
  await page.getByRole("button", { name: "Show the newest" }).click();
  await haveRows(50);
  await page.getByText(/^(Live|Behind by .*)$/).waitFor();
  await closePage(page);
});

test("a publisher switches on a callback that its receiver switched off", async (context) => {
  const { signpost } = shared;
  const receiver = await startReceiver();
  context.after(receiver.stop);
  receiver.secrets = [SECRET];
  receiver.failsWith = 410;
  await sendCallbacksTo(signpost, receiver.url, SECRET);
  const page = await shared.open({ cookie: await signpost.signIn() });
  const user = "player-of-the-gone";
  await earn(signpost, token, user);
  const repair = () => {
    receiver.failsWith = null;
  };
  const appName = "Lumen Arcade for Android";
  await rewards.switchOnAgain(page, new HANDS[0](page), { appName, user, repair });
  await closePage(page);
});

// An attack's markup, signs that turn the direction of text, and control characters.
const HOSTILE =
  `</code><img src=x onerror="window.isOwned=1"><script>window.isOwned=1</script>` +
  `<iframe srcdoc="<script>parent.isOwned=1</script>"></iframe>&lt;b&gt; ` +
  `\u202Egnp.exe\u2066\u2067 \u200F\u061C \u0007\u001B[31mred\u0000\u0085\uFEFF`;

test("a receiver's answer with markup, bidi and control characters is inert text", async (context) => {
  const { signpost } = shared;
  const receiver = await startReceiver();
  context.after(receiver.stop);
  receiver.secrets = [SECRET];
  receiver.failsWith = 400;
  receiver.body = HOSTILE;
  await sendCallbacksTo(signpost, receiver.url, SECRET);
  const transactionId = await earn(signpost, token, "player-of-the-hostile");
  for (const width of WIDTHS) {
    const page = await shared.open({ width, cookie: await signpost.signIn() });
    await rewards.readInertAnswer(page, { app: APP, transactionId, answer: HOSTILE });
    await closePage(page);
  }
});

test("an analyst sees rewards and no users, and sends nothing again", async () => {
  const { signpost } = shared;
  const user = "player-of-the-analyst";
  const transactionId = await earn(signpost, token, user);
  const page = await shared.open({ cookie: await signpost.signIn(undefined, "analyst", "Priya Raghunathan") });
  await page.goto("/dashboard/rewards");
  const link = page.getByRole("link", { name: transactionId });
  await link.waitFor();
  assert.equal(await page.getByText(user).count(), 0);
  assert.equal(await page.getByLabel("User ID").count(), 0);
  assert.equal(await page.getByRole("button", { name: /again$/ }).count(), 0);
  await page.goto(`/dashboard/apps/${APP}/rewards/${transactionId}`);
  await page.getByText("What happened").waitFor();
  assert.equal(await page.getByText(user).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Send it again" }).count(), 0);
  await closePage(page);
});

test("the overview counts rewards and ticks what has happened", async () => {
  const { signpost } = shared;
  await earn(signpost, token, "player-of-the-overview");
  const page = await shared.open({ cookie: await signpost.signIn() });
  await page.goto("/dashboard");
  const health = page.getByRole("table", { name: "Callback health" });
  await health.getByText("Lumen Arcade for Android").waitFor();
  const checklist = page.getByRole("region", { name: "Go live" });
  for (const done of ["A user opened an offer", "An advertiser confirmed a conversion"]) {
    await checklist
      .getByRole("listitem")
      .filter({ hasText: `${done}, done` })
      .waitFor();
  }
  await checklist.getByRole("listitem").filter({ hasText: "A script read a report, open" }).waitFor();
  await closePage(page);
});
