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

test("support does not publish", async () => {
  const cookie = await signInToConsole(shared.signpost, "support", "Sam Idowu");
  const page = await shared.open({ cookie });
  await page.goto("/console/service");
  await page.getByText("2 publishers").waitFor();
  assert.equal(await page.getByRole("button", { name: "Publish now" }).count(), 0);
  await closePage(page);
});
