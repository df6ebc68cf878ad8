// An operator sees how the service is doing, publishes, and compares a day of an app.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
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
  // As the API tells it of an outbox that hangs; the end-to-end tests make one.
  const callback = { app_id: WEB_APP, publisher_id: "lumen-arcade", state: "unknown" };
  await page.route("**/v1/operator/callbacks*", (route) => {
    const isFirst = !new URL(route.request().url()).searchParams.has("cursor");
    const well = { ...callback, app_id: "10000001", state: "healthy" };
    return route.fulfill({ json: isFirst ? { callbacks: [well], cursor: "10000001" } : { callbacks: [callback], cursor: null } });
  });
  await ask.click();
  await callbacks.getByText("1 of 2 apps with a callback do not answer:").waitFor();
  assert.equal(await callbacks.getByRole("listitem").getByRole("link").getAttribute("href"), `/console/apps/${WEB_APP}`);
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
