// A publisher sets up an app, repairs its callback and changes its secret without asking anyone: by mouse and again by
// keyboard alone, on a wide screen and on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { WAYS } from "./support/hands.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { suite } from "./support/suite.mjs";
import * as apps from "./tasks/apps.mjs";

const shared = suite({ facts: false });
// A test is sent in 5 seconds at the earliest; the page waits by itself.
const TOO_SOON = [429, /\/callback\/test$/];
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

for (const [Hand, width] of WAYS) {
  test(`a publisher sets up an app and its callback by ${Hand.handName} at ${width} px`, async (context) => {
    const { signpost } = shared;
    const receiver = await startReceiver();
    context.after(receiver.stop);
    const publisher = await signpost.addPublisher("Kite Games");
    const cookie = await signpost.signIn(publisher);
    const app = /^\/v1\/dashboard\/apps\/[0-9]{8}$/;
    const page = await shared.open({ width, cookie, refusals: [[400, app], [412, app], TOO_SOON] });
    const hand = new Hand(page);

    const appId = await apps.setUpApp(page, hand, "Kite Racer");
    await apps.changeCurrency(page, hand);
    await apps.refuseFallback(page, hand);
    await apps.blockOffers(page, hand, ["31906", "48120"]);
    const { blocked_offers: blocked } = await signpost.operator("GET", `/apps/${appId}`);
    assert.deepEqual(blocked, ["31906", "48120"]);

    // The operator allows the receiver's port, which is none that publishers choose.
    const put = async (change) => {
      const { app_id, terms_revision, ...document } = await signpost.operator("GET", `/apps/${appId}`);
      await signpost.operator("PUT", `/apps/${appId}`, { ...document, ...change });
    };
    receiver.secrets = [SECRET];
    receiver.checksSignatures = false;
    await put({ callback: { url: receiver.url, method: "GET", secret: SECRET } });
    await page.reload();
    await apps.writeCallback(page, hand, receiver.url);
    receiver.checksSignatures = true;
    await apps.testReceiver(page, hand, "Your receiver accepted the call (200).");
    assert.equal(receiver.calls.at(-1).query.uid, "signpost-test");
    assert.match(receiver.calls.at(-1).query.id, /^test-/);
    await apps.rotateSecret(page, hand, {
      teach: (secret) => {
        receiver.secrets.push(secret);
        receiver.checksSignatures = false;
      },
      checkSignatures: () => {
        receiver.checksSignatures = true;
      },
    });
    await apps.signClicks(page, hand);
    // A secret reads back masked and may not be written back, so the other change uses the page's own interface.
    const other = await signpost.signIn(publisher, "developer", "Tom Weber");
    await apps.changeAfterAnother(page, hand, async () => {
      const { revision } = await signpost.dashboard(other, "GET", `/apps/${appId}`);
      const headers = { "If-Match": `"${revision}"` };
      await signpost.dashboard(
        other,
        "PATCH",
        `/apps/${appId}`,
        { name: "Kite Flyer", blocked_offers: ["31906"] },
        headers,
      );
    });
    const { name, blocked_offers: left } = await signpost.operator("GET", `/apps/${appId}`);
    assert.deepEqual([name, left], ["Kite Racer 2", ["31906"]]);
    await apps.keepUnsaved(page, hand);
    await closePage(page);
  });
}

test("an analyst reads the list of apps and opens none", async () => {
  const cookie = await shared.signpost.signIn(undefined, "analyst", "Priya Raghunathan");
  const page = await shared.open({ cookie, refusals: [[403, "/v1/dashboard/apps/10000001"]] });
  await page.goto("/dashboard/apps");
  await page.getByRole("table", { name: "Apps" }).getByText("Lumen Arcade for iOS").waitFor();
  assert.equal(await page.getByRole("button", { name: "Set up an app" }).count(), 0);
  assert.equal(await page.getByRole("table", { name: "Apps" }).getByRole("link").count(), 0);
  await page.goto("/dashboard/apps/10000001");
  await page.getByText("Your role does not include this").waitFor();
  await closePage(page);
});
