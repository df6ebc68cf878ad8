// An operator sees how the service is doing, and what its instances reported, publishes, and compares a day of an app.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { attentionOf, BAD_DAY, serviceWith } from "./support/service.mjs";
import { HANDS } from "./support/hands.mjs";
import { advertiserToken, report, SURVEY, WEB_APP } from "./support/rewards.mjs";
import { today } from "./support/facts.mjs";
import { suite } from "./support/suite.mjs";

let admin;
const shared = suite({ facts: false }, async (signpost) => {
  admin = await signInToConsole(signpost);
  const token = await advertiserToken(signpost, SURVEY.advertiser);
  await report(signpost, token, SURVEY, "of-the-day");
});

for (const Hand of HANDS) {
  test(`an operator publishes and compares a day by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await page.goto("/console/service");
    const publication = page.getByRole("region", { name: "Publication" });
    await publication.getByText("2 publishers, 4 apps, 6 advertisers, 72 offers").waitFor();
    await hand.press(publication.getByRole("button", { name: "Publish now" }));
    await hand.press(page.getByRole("dialog").getByRole("button", { name: "Publish now" }));
    await page.getByText("Everything is published.").waitFor({ state: "attached" });

    const day = page.getByRole("region", { name: "Reconcile a day" });
    await hand.write(day.getByLabel("App", { exact: true }), WEB_APP);
    await hand.writeDate(day.getByLabel("Day, in UTC"), today());
    await hand.press(day.getByRole("button", { name: "Compare" }));
    await page.waitForURL(/app=/);
    await day.getByText("came more than 24 hours after the click").waitFor();
    await day.getByText("$0.90").first().waitFor();
    await closePage(page);
  });
}

test("an operator asks every app whether it answers", async () => {
  const page = await shared.open({ cookie: admin });
  await page.goto("/console/service");
  const callbacks = page.getByRole("region", { name: "Callbacks that fail or are switched off" });
  await callbacks.getByText("No app has reported a callback that fails.").waitFor();
  const ask = callbacks.getByRole("button", { name: "Ask every app now" });
  await ask.click();
  await callbacks.getByText(/^\d+ apps? with a callback answers?\.$/).waitFor();
  // The API's answer for an outbox that hangs. The end-to-end tests make such an outbox.
  const callback = { app_id: WEB_APP, publisher_id: "lumen-arcade", state: "unknown" };
  await page.route("**/v1/operator/callbacks*", (route) => {
    const isFirst = !new URL(route.request().url()).searchParams.has("cursor");
    const well = { ...callback, app_id: "10000001", state: "healthy" };
    return route.fulfill({
      json: isFirst ? { callbacks: [well], cursor: "10000001" } : { callbacks: [callback], cursor: null },
    });
  });
  await ask.click();
  await callbacks.getByText("1 of 2 apps with a callback do not answer:").waitFor();
  assert.equal(
    await callbacks.getByRole("listitem").getByRole("link").getAttribute("href"),
    `/console/apps/${WEB_APP}`,
  );
  await closePage(page);
});

const part = (page, name) => page.getByRole("region", { name, exact: true });
const ROOM = "Requests refused under overload";
const INSTANCES = "Instances of edge and origin";
const UNSENT = "Not in the reports yet";
const OLD = "Rewards from old clicks and old terms";

test("a service that is well says so in each part", async () => {
  const page = await shared.open({ cookie: admin });
  await page.goto("/console/service");
  await part(page, ROOM).getByText("Nothing was refused.").waitFor();
  await part(page, ROOM).getByText("“Refused” is the sum over all instances, each since its start.").waitFor();
  await part(page, INSTANCES).getByText("Nothing was reported in the last 24 hours.").waitFor();
  await part(page, UNSENT).getByText("None has waited for longer than two minutes.").waitFor();
  await part(page, OLD).getByText("No rewards on this day.").waitFor();
  await part(page, "Near a limit").getByText("No object is near its limit.").waitFor();
  await closePage(page);
});

test("an operator sees what all instances refused and lost, which sums wait, and where old clicks are paid", async () => {
  const page = await shared.open({ cookie: admin });
  await serviceWith(page, BAD_DAY);
  const batch = { app_id: WEB_APP, publisher_id: "lumen-arcade", since_ms: Date.now() - 600_000 };
  await attentionOf(page, [
    { ...batch, kind: "batch_refused", subject: `outbox-${WEB_APP}-0: ledger: batch 17`, reason: "unknown publisher" },
    { ...batch, kind: "batch_late", subject: "counters-1: ledger: batch 12", app_id: null, reason: "no_answer" },
  ]);
  await page.goto("/console/service");

  const room = part(page, ROOM);
  await room.getByText("47 requests were refused.").waitFor();
  const clicks = room.getByRole("row", { name: /^Clicks that wait 2 instances, last at / });
  assert.deepEqual(await clicks.getByRole("cell").allTextContents(), ["", "40"], "in use is not known of the edge");
  const signIns = room.getByRole("row", { name: /^Sign-ins 1 instance, last at / });
  assert.deepEqual(await signIns.getByRole("cell").allTextContents(), ["0 of 32", "7"]);

  const instances = part(page, INSTANCES);
  await instances.getByText("The users were redirected. Reports lack these clicks.").waitFor();
  await instances.getByText("The log has the details under “fault”").waitFor();
  await instances.getByText("115 of 128 MB").waitFor();
  await instances.getByText("click IDs of a key that is not deployed").waitFor();
  await instances.getByText("90 minutes", { exact: true }).waitFor();
  await instances.getByText("no_listing").waitFor();
  await instances.getByRole("meter", { name: "Largest memory" }).waitFor();

  const unsent = part(page, UNSENT);
  await unsent.getByText("counters-1: ledger: batch 12").waitFor();
  await unsent.getByText("The last try had no answer.").waitFor();
  await unsent
    .getByRole("row", { name: /Totals rejected/ })
    .getByText("unknown publisher")
    .waitFor();
  await unsent.getByText("10 minutes ago").first().waitFor();

  const old = part(page, OLD);
  await old.getByText("1,000 rewards. 50 (5.0%) came more than 24 hours after the click, and 3 (0.3%)").waitFor();
  const { date, apps } = BAD_DAY.rewards;
  const [{ app_id: app }] = apps;
  const { name } = await shared.signpost.operator("GET", `/apps/${app}`);
  const row = old.getByRole("row").filter({ hasText: name });
  assert.deepEqual(await row.getByRole("cell").allTextContents(), ["10", "5 (50.0%)", "1 (10.0%)"]);
  await row.getByRole("link").click();
  await page.getByRole("heading", { name, exact: true }).waitFor();
  assert.ok(page.url().endsWith(`/console/apps/${app}?date=${date}`), page.url());
  await part(page, "Reconcile a day")
    .getByText(/ agrees: /)
    .waitFor();
  await closePage(page);
});

test("while nothing is known of other instances, the page tells of the one that answered", async () => {
  const page = await shared.open({ cookie: admin });
  await serviceWith(page, null);
  await page.goto("/console/service");
  const room = part(page, ROOM);
  await room.getByText("Counts of other instances are not available right now.").waitFor();
  await room
    .getByRole("row", { name: /^Sign-ins/ })
    .getByText("0 of 32")
    .waitFor();
  for (const name of [INSTANCES, OLD]) await part(page, name).getByText("Not known right now").waitFor();
  await part(page, "Publication").getByText("2 publishers").waitFor();
  await closePage(page);
});

test("support does not publish", async () => {
  const cookie = await signInToConsole(shared.signpost, "support", "Sam Idowu");
  const page = await shared.open({ cookie });
  await page.goto("/console/service");
  await page.getByText("2 publishers").waitFor();
  assert.equal(await page.getByRole("button", { name: "Publish now" }).count(), 0);
  await closePage(page);
});
