// An operator's questions (docs/OPERATING.md), each walked in a state that is made for it: from the first page or a
// pasted text to the answer, and to the repair where one exists.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { untilReported } from "./gallery/console-advertisers.mjs";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { today } from "./support/facts.mjs";
import { HANDS, Mouse } from "./support/hands.mjs";
import { addPartner, PAYOUT } from "./support/partner.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";
import * as advertisers from "./tasks/console-advertisers.mjs";
import * as apps from "./tasks/console-apps.mjs";
import * as walk from "./tasks/console-walk.mjs";

let admin;
// Two tries, and a callback is given up.
const shared = suite({ facts: false, settings: { CALLBACK_SCHEDULE: "0,1" } }, async (signpost) => {
  admin = await signInToConsole(signpost);
});

/** A receiver that answers `status` until it is mended. */
async function failingReceiver(status, t) {
  const receiver = await startReceiver();
  t.after(receiver.stop);
  receiver.checksSignatures = false;
  receiver.failsWith = status;
  receiver.mend = () => (receiver.failsWith = null);
  return receiver;
}

const deliveredTo = (receiver, id) =>
  receiver.calls.filter(({ status, query }) => status === 200 && query.transaction_id === id).length;

for (const [number, Hand] of HANDS.entries()) {
  test(`a callback that was given up is found, explained and sent again by ${Hand.handName}`, async (t) => {
    const receiver = await failingReceiver(404, t);
    const partner = await addPartner(shared.signpost, `dead-${number}`, `4100000${number}`, { receiver });
    const id = await partner.earn("user-of-the-dead-callback");
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await walk.followAttention(
      page,
      hand,
      "Callback given up",
      "Send them again once the receiver works.",
      `Send again: ${id}`,
    );
    await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
    receiver.mend();
    await walk.sendAgain(page, hand, "HTTP 404");
    assert.equal(deliveredTo(receiver, id), 1);
    await walk.isWell(page, hand);
    await closePage(page);
  });

  test(`a conversion that a cap refused is found and paid by ${Hand.handName}`, async (t) => {
    const receiver = await failingReceiver(200, t);
    const offer = { conversion_cap: { dur: "DAILY", lim: 1 } };
    const partner = await addPartner(shared.signpost, `capped-${number}`, `4200000${number}`, { receiver, offer });
    await partner.earn("first");
    const { code } = await partner.convert(await partner.click("second"), 409);
    assert.equal(code, "conversion_capped");
    const [{ transaction_id: id }] = await partner.entries("reason=conversion_capped");
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await walk.followAttention(page, hand, "Earned beyond a cap", "Approve them to pay anyway.", `Decide: ${id}`);
    await walk.approveCapped(page, hand, "the advertiser raised the budget");
    await page
      .getByRole("region", { name: /^Callback/ })
      .getByText("Delivered")
      .first()
      .waitFor();
    assert.equal(deliveredTo(receiver, id), 1);
    const paid = (await partner.entries("status=approved")).find(({ user_id }) => user_id === "second");
    assert.deepEqual([paid.payout, paid.value], [PAYOUT, 1250]);
    await walk.isWell(page, hand);
    await closePage(page);
  });
}

test("an endpoint that switched itself off is found, tested and switched on", async (t) => {
  const receiver = await failingReceiver(410, t);
  const partner = await addPartner(shared.signpost, "gone", "43000000", { receiver });
  const id = await partner.earn("user-who-waits");
  const page = await shared.open({ cookie: admin });
  const hand = new Mouse(page);
  const repair = "Switch on: App of gone";
  await walk.followAttention(page, hand, "Callback switched off", "Their rewards wait until the callback is", repair);
  await page.getByRole("heading", { name: "App of gone" }).waitFor();
  await apps.testCallback(page, hand, "The receiver answered 410.");
  receiver.mend();
  await apps.testCallback(page, hand, "The receiver accepted the call (200).");
  assert.equal(deliveredTo(receiver, id), 0, "it waits until somebody says so");
  await apps.enableCallback(page, hand);
  await walk.isWell(page, hand);
  await page.goto(`/console/apps/43000000/rewards/${id}`);
  await page
    .getByRole("region", { name: /^Callback/ })
    .getByText("Delivered")
    .first()
    .waitFor();
  assert.equal(deliveredTo(receiver, id), 1);
  await closePage(page);
});

test("a revoked token that is still used is found by the token, and mended with a new one", async () => {
  const { signpost } = shared;
  const partner = await addPartner(signpost, "revoked", "44000000");
  const click = await partner.click("user-of-the-partner");
  const [{ token_id: serial }] = (await signpost.operator("GET", "/advertisers/revoked")).tokens;
  await signpost.operator("DELETE", `/advertisers/revoked/token/${serial}`);
  await signpost.operator("POST", "/refresh");
  assert.equal((await partner.convert(click, 401)).code, "invalid_token");
  await untilReported(signpost, "revoked", "invalid_token");

  const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
  const hand = new Mouse(page);
  await page.goto("/console");
  await walk.find(page, hand, partner.token);
  const found = page.getByRole("table", { name: "1 match" });
  await found.getByText("of advertiser revoked").waitFor();
  await found.getByText("Revoked", { exact: true }).waitFor();
  await hand.press(found.getByRole("link", { name: serial }));
  const tokens = page.getByRole("table", { name: "Tokens" });
  await tokens.getByRole("row").filter({ hasText: serial }).getByText("Postbacks with it are refused.").waitFor();
  await advertisers.diagnose(page, hand, partner.token);
  const { token } = await advertisers.issue(page, hand);
  await advertisers.check(page, hand, partner.postback(click, token), "It would be answered 200, approved");
  await partner.convert(click, 200, token);
  await hand.choose(page.getByRole("combobox", { name: "Answer" }), "All answers");
  const postbacks = page.getByRole("table", { name: "Postbacks" });
  await postbacks.getByText("GET, 200").waitFor();
  await hand.press(postbacks.getByRole("link", { name: "Its reward" }));
  await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
  await closePage(page);
});

test("clicks that were saved up before a payout fell are seen, and paid under the current terms", async () => {
  const { signpost } = shared;
  const partner = await addPartner(signpost, "stockpile", "45000000");
  const clicks = await Promise.all(["saver-1", "saver-2"].map((user) => partner.click(user)));
  await partner.putOffer({ payout: 0.5 });
  const { transaction_id: early } = await partner.convert(clicks[0]);
  // Clicks are older by a whole second, since the time from which terms count is in seconds.
  await new Promise((resolve) => setTimeout(resolve, 1_100));

  const page = await shared.open({ cookie: admin, refusals: [[404, /./]] });
  const hand = new Mouse(page);
  await page.goto("/console");
  await walk.follow(page, hand, "Service");
  const day = await walk.compareDay(page, hand, "45000000", today());
  await day.getByText(/ 1 \(100\.0%\) were paid under earlier terms/).waitFor();

  // The reward says by which terms it was paid, and leads to its offer.
  await walk.find(page, hand, clicks[0]);
  await hand.press(page.getByRole("table", { name: "Rewards of this click" }).getByRole("link", { name: early }));
  await page.getByText("$1.25").first().waitFor();
  await hand.press(page.getByRole("link", { name: "Offer of stockpile stockpile", exact: true }));
  await page.getByRole("heading", { name: "Offer of stockpile" }).waitFor();
  await walk.payOlderClicks(page, hand);
  await signpost.operator("POST", "/refresh");

  const { transaction_id: late } = await partner.convert(clicks[1]);
  await walk.find(page, hand, clicks[1]);
  await hand.press(page.getByRole("table", { name: "Rewards of this click" }).getByRole("link", { name: late }));
  await page.getByText("$0.50").first().waitFor();
  const amounts = (await partner.entries("status=approved")).map(({ payout }) => payout);
  assert.deepEqual(amounts, [0.5, PAYOUT], "the newest first");
  await closePage(page);
});

test("each page that OPERATING and the alert rules name is there", async () => {
  const partner = await addPartner(shared.signpost, "named", "48000000");
  const ids = {
    app_id: "48000000",
    transaction_id: await partner.earn("user-1"),
    offer_id: "named",
    advertiser_id: "named",
    publisher_id: DEMO,
  };
  const read = (path) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");
  const [document, rules] = [await read("docs/OPERATING.md"), await read("fixtures/prometheus/alerts.yaml")];
  const matches = [...document.matchAll(/`(\/console[^`#]*)`/g), ...rules.matchAll(/page: (\S+)/g)];
  const named = matches.map(([, path]) => path);
  const paths = new Set(named.map((path) => path.replace(/\{(\w+)\}/g, (_, name) => ids[name])));
  assert.ok(paths.size >= 14, [...paths].join(" "));
  const page = await shared.open({ cookie: admin });
  for (const path of paths) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForFunction(() => !document.querySelector(".skeleton, [aria-busy=true]"));
    for (const text of ["Page not found", /^There is no (?!callback)/]) {
      assert.equal(await page.getByText(text).count(), 0, `${path}: ${text}`);
    }
  }
  await closePage(page);
});
