// A publisher's first day without help: from the invite to the first reward that is paid, read and sent again, and a
// new secret. With a real passkey, by mouse on a wide screen and by keyboard alone on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, SIGNED_OUT } from "./support/browser.mjs";
import { WAYS } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { advertiserToken, earn } from "./support/rewards.mjs";
import { suite } from "./support/suite.mjs";
import * as apps from "./tasks/apps.mjs";
import { acceptInvite } from "./tasks/ceremony.mjs";
import { followReward } from "./tasks/rewards.mjs";

let token;
const shared = suite({ localSignIn: false, facts: false }, async (signpost) => {
  token = await advertiserToken(signpost);
});
// A test is sent in 5 seconds at the earliest; the page waits by itself.
const TOO_SOON = [429, /\/callback\/test$/];

for (const [Hand, width] of WAYS) {
  test(`a publisher goes live on its first day by ${Hand.handName} at ${width} px`, async (context) => {
    const { signpost } = shared;
    const receiver = await startReceiver();
    context.after(receiver.stop);
    const publisher = await signpost.addPublisher("Kite Games");
    const page = await shared.open({ width, refusals: [SIGNED_OUT, TOO_SOON] });
    const hand = new Hand(page);
    await addAuthenticator(page);
    const invite = await signpost.invite(publisher);
    await acceptInvite(page, hand, invite, { publisher: "Kite Games", member: "Ana Ruiz" });

    const appId = await apps.setUpByMistakes(page, hand, signpost, receiver);

    await signpost.operator("POST", "/refresh");
    const user = `first-${Hand.handName}`;
    let transactionId;
    await followReward(page, hand, user, async () => {
      transactionId = await earn(signpost, token, user, appId);
    });
    const paid = receiver.calls.filter(({ query }) => query.id === transactionId);
    assert.deepEqual(
      paid.map(({ status }) => status),
      [200, 200],
    );

    await page.goto(`/dashboard/apps/${appId}`);
    await apps.rotateSecret(page, hand, {
      teach: (renewed) => {
        receiver.secrets.push(renewed);
        receiver.checksSignatures = false;
      },
      checkSignatures: () => {
        receiver.checksSignatures = true;
      },
    });
    await page.goto("/dashboard");
    const checklist = page.getByRole("region", { name: "Go live" });
    await checklist
      .getByRole("listitem")
      .filter({ hasText: "Your receiver answered a reward with 2xx, done" })
      .waitFor();
    await closePage(page);
  });
}
