// An operator settles rewards: by mouse and again by keyboard alone. Support reads, and sends again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { HANDS, Keyboard } from "./support/hands.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { advertiserToken, report, sendCallbacksTo, SURVEY, VISIT, WEB_APP } from "./support/rewards.mjs";
import { suite } from "./support/suite.mjs";
import * as tasks from "./tasks/console-rewards.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

let visits;
let surveys;
let admin;
const shared = suite({ facts: false }, async (signpost) => {
  visits = await advertiserToken(signpost, VISIT.advertiser);
  surveys = await advertiserToken(signpost, SURVEY.advertiser);
  admin = await signInToConsole(signpost);
});

const visit = (user) => report(shared.signpost, visits, VISIT, user);
const survey = (user, more) => report(shared.signpost, surveys, SURVEY, user, more);

/** Makes the first answers go on in an outbox that the app does not have. Returns the bodies of the calls. */
async function inParts(page) {
  const bodies = [];
  await page.exposeFunction("noteSettling", (body) => bodies.push(JSON.parse(body)));
  await page.addInitScript(() => {
    const send = window.fetch;
    window.fetch = async (url, options) => {
      const response = await send(url, options);
      if (!String(url).endsWith("/conversions/reject") || !response.ok) return response;
      await window.noteSettling(options.body);
      const answer = await response.json();
      const isFirst = !JSON.parse(options.body).after;
      return new Response(JSON.stringify(isFirst ? { ...answer, next: "64.0" } : answer), response);
    };
  });
  return bodies;
}

for (const Hand of HANDS) {
  test(`an operator decides on what is held by ${Hand.handName}`, async () => {
    const user = `held-${Hand.handName}`;
    await visit(user);
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await tasks.listRewards(page, hand, WEB_APP, "Held for review");
    await tasks.settleOne(page, hand, {
      user,
      button: "Approve",
      reason: "the advertiser saw the visit",
      becomes: "approved",
      said: "It is approved.",
    });
    await tasks.eraseUser(page, hand, user);
    await closePage(page);

    const others = [`farm-${Hand.handName}-1`, `farm-${Hand.handName}-2`];
    for (const other of others) await visit(other);
    const list = await shared.open({ cookie: admin });
    const parts = await inParts(list);
    const other = new Hand(list);
    await tasks.listRewards(list, other, WEB_APP, "Held for review");
    await tasks.rejectMany(list, other, others.length, "a click farm");
    // Each count and the settlement took two calls.
    assert.ok(parts.length >= 4 && parts.length % 2 === 0, JSON.stringify(parts));
    assert.ok(
      parts.filter(({ after }) => after).every(({ filter }) => filter.until),
      JSON.stringify(parts),
    );
    await closePage(list);
  });

  test(`an operator reverses a reward by ${Hand.handName}`, async () => {
    const user = `taken-${Hand.handName}`;
    await survey(user);
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await tasks.listRewards(page, hand, WEB_APP, "Approved");
    await tasks.filterByUser(page, hand, user);
    const settling = {
      user,
      button: "Reverse",
      reason: "a click farm",
      becomes: "reversed",
      said: "It is reversed.",
    };
    await tasks.settleOne(page, hand, settling);
    await closePage(page);
  });

  test(`an operator overrides what stands against a reward by ${Hand.handName}`, async () => {
    const user = `twice-${Hand.handName}`;
    const txn = `order-${Hand.handName}`;
    await survey(`first-${Hand.handName}`, { txn });
    await survey(user);
    // The advertiser's id is spent, and so is the user's reward for this goal.
    await survey(user, { txn });
    const filter = { status: "refused", user_id: user };
    const refused = await shared.signpost.operator("POST", `/apps/${WEB_APP}/conversions`, filter);
    const transactionId = refused.conversions[0].transaction_id;
    const path = `/apps/${WEB_APP}/conversions/${transactionId}`;
    const page = await shared.open({ cookie: admin, refusals: [[409, `/v1/operator${path}/approve`]] });
    await page.goto(`/console/apps/${WEB_APP}/rewards/${transactionId}`);
    await page.getByRole("heading", { name: "Reward, refused" }).waitFor();
    await tasks.approveDespite(page, new Hand(page), "The user had the reward for this goal already.");
    assert.equal((await shared.signpost.operator("GET", path)).status, "approved");
    await closePage(page);
  });
}

test("support sees rewards and settles none", async () => {
  const { transactionId } = await survey("seen-by-support");
  const cookie = await signInToConsole(shared.signpost, "support", "Sam Idowu");
  const page = await shared.open({ cookie });
  await page.goto(`/console/apps/${WEB_APP}/rewards/${transactionId}`);
  await page.getByText("What happened").waitFor();
  await page.getByText("seen-by-support", { exact: true }).waitFor();
  for (const name of ["Reverse…", "Erase this user…"]) {
    assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  }
  await page.goto(`/console/rewards?app=${WEB_APP}&status=approved`);
  await page.getByRole("table", { name: "Rewards", exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve or reject all that match" }).count(), 0);
  await page.getByRole("button", { name: "Send callbacks again" }).waitFor();
  await closePage(page);
});

for (const [role, stops] of [
  ["admin", 1],
  ["support", 0],
]) {
  test(`${role} ${stops ? "may" : "may not"} stop callbacks that are sent again`, async (context) => {
    const receiver = await startReceiver();
    context.after(receiver.stop);
    await sendCallbacksTo(
      shared.signpost,
      `${receiver.url}?user={user_id}&id={transaction_id}&coins={value}`,
      SECRET,
      WEB_APP,
    );
    await survey(`sent-again-by-${role}`);
    const cookie = await signInToConsole(shared.signpost, role, "Sam Idowu");
    const page = await shared.open({ cookie });
    const hand = new Keyboard(page);
    // The page never learns the progress of the replay, so the replay does not end there.
    await page.route(/\/replays\/[^/]+$/, () => {});
    await page.goto(`/console/rewards?app=${WEB_APP}&status=approved`);
    await hand.press(page.getByRole("button", { name: "Send callbacks again" }));
    const start = page.getByRole("button", { name: /^Send \d+ callbacks? again$/ });
    await page.getByRole("dialog").getByText("No matching callback can be sent again.").waitFor();
    await hand.tick(page.getByRole("radio", { name: /^All/ }));
    await page.getByText(/callbacks? match/).waitFor();
    assert.equal(await start.count(), 0, "delivered ones need a second yes");
    await hand.tick(page.getByRole("checkbox", { name: /users are paid twice/ }));
    const isStart = (answer) => answer.url().endsWith("/replays") && !answer.request().postDataJSON().dry_run;
    const started = page.waitForResponse(isStart);
    await hand.press(start);
    const { replay_id: id } = await (await started).json();
    await page.getByText(/^Queueing callbacks to be sent again/).waitFor();
    assert.equal(await page.getByRole("button", { name: "Stop" }).count(), stops);
    await closePage(page);
    // An app has one replay at a time.
    const path = `/apps/${WEB_APP}/replays/${id}`;
    while ((await shared.signpost.operator("GET", path)).state === "running") {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
}
