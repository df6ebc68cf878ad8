// The tasks that people do most, each within a number of clicks: by mouse, by keyboard alone and on a phone. A tick, a choice
// and an Enter that sends a form count as a click.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { untilReported } from "./gallery/console-advertisers.mjs";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { counting, Keyboard, Mouse } from "./support/hands.mjs";
import { addPartner } from "./support/partner.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { advertiserToken, report, SURVEY, VISIT } from "./support/rewards.mjs";
import { changeOutboxes } from "./support/stored.mjs";
import { suite } from "./support/suite.mjs";
import * as operator from "./tasks/clicks-console.mjs";
import * as publisher from "./tasks/clicks-dashboard.mjs";

const WAYS = [
  [Mouse, 1440],
  [Keyboard, 1440],
  [Mouse, 390],
];

const TASKS = [
  ["earnings of last week and what changed them", 3, publisher.readLastWeek],
  ["export 30 days", 3, publisher.exportDays],
  ["create and revoke a report key", 4, publisher.createAndRevokeKey],
  ["set up an app with a callback through a receiver that misbehaves", 14, publisher.setUpApp],
  ["test click to the reward's story", 6, publisher.followTestClick],
  ["replay yesterday's failures", 4, publisher.replayYesterday],
  ["invite a colleague", 4, publisher.inviteColleague],
  ["approve a publisher", 3, operator.approvePublisher],
  ["create an offer and raise its payout", 10, operator.createAndRaise],
  ["find why a postback was refused", 4, operator.explainRefusal],
  ["find a user's reward by user ID alone", 3, operator.findUser],
  ["approve held rewards with their sum", 4, operator.approveHeld],
  ["import with wrong lines", 4, operator.importFile],
  ["see what waits today", 1, operator.seeWaiting],
];

const EARNER = "the-earner";
/** The accounts, and the events before the tasks begin. */
const given = {};
const receivers = [];
// A callback is given up after two tries.
const shared = suite({ settings: { CALLBACK_SCHEDULE: "0,1" } }, async (signpost) => {
  given.signpost = signpost;
  given.owner = await signpost.signIn();
  given.admin = await signInToConsole(signpost);
  given.visits = await advertiserToken(signpost, VISIT.advertiser);
  await report(signpost, await advertiserToken(signpost, SURVEY.advertiser), SURVEY, EARNER);
  given.refused = await addPartner(signpost, "refused", "41000000");
  await given.refused.convert(await given.refused.click("somebody"), 401, `${given.refused.token.slice(0, -1)}x`);
  await untilReported(signpost, "refused", "invalid_token");
  given.late = await addLate(signpost);
  given.tester = await addTester(signpost);
});
after(() => Promise.all(receivers.map(({ stop }) => stop())));

/** An app that has one offer. */
async function addTester(signpost) {
  const tester = await addPartner(signpost, "tester", "42000000");
  const { offers } = await signpost.operator("GET", "/offers?limit=1000");
  const blocked_offers = offers.map(({ offer_id: id }) => id).filter((id) => id !== tester.id);
  const { app_id, terms_revision, ...document } = await signpost.operator("GET", `/apps/${tester.app}`);
  await signpost.operator("PUT", `/apps/${tester.app}`, { ...document, blocked_offers });
  await signpost.operator("POST", "/refresh");
  await tester.earn("somebody");
  return tester;
}

/** For each way an app with two callbacks that were given up, one yesterday and one today. */
async function addLate(signpost) {
  const all = await Promise.all(
    WAYS.map(async (_, number) => {
      const receiver = await startReceiver();
      receivers.push(receiver);
      Object.assign(receiver, { failsWith: 500, checksSignatures: false });
      return Object.assign(await addPartner(signpost, `late-${number}`, `4300000${number}`, { receiver }), {
        receiver,
      });
    }),
  );
  await Promise.all(all.map((late) => late.earn("yesterday")));
  while (all.some(({ receiver }) => receiver.calls.length < 2)) await new Promise((done) => setTimeout(done, 200));
  // Moves the conversions to the day before.
  const back = (time) => `'$.${time}', (fields ->> '$.${time}') - 86400`;
  const sql = `UPDATE entries SET fields = json_set(fields, ${back("click_ts")}, ${back("conversion_ts")});`;
  await signpost.restart((objects) => {
    for (const { app } of all) changeOutboxes(objects, app, sql);
  });
  await Promise.all(all.map((late) => late.earn("today")));
  return all;
}

for (const [name, most, walk] of TASKS) {
  for (const [number, [Hand, width]] of WAYS.entries()) {
    test(`${name}, at most ${most}, by ${Hand.handName} at ${width} px`, async (t) => {
      const one = {};
      const begin = async (cookie, refusals) => {
        one.page = await shared.open({ width, cookie, refusals });
        one.hand = counting(new Hand(one.page));
        await one.page.goto(cookie === given.admin ? "/console" : "/dashboard");
        await one.page.getByRole("heading", { level: 1 }).waitFor();
        return one;
      };
      const user = `${walk.name}-${number}`;

      await walk({ ...given, late: given.late[number], earner: EARNER, begin, user, t });
      t.diagnostic(`${one.hand.clicks} clicks`);
      assert.ok(one.hand.clicks <= most, `${one.hand.clicks} clicks`);
      await closePage(one.page);
    });
  }
}
