// From an invite to a verified callback by the dashboard alone, with a test app: no operator, no advertiser. By mouse on
// a wide screen, and by keyboard alone on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, SIGNED_OUT } from "./support/browser.mjs";
import { checkView } from "./support/gallery.mjs";
import { Keyboard, Mouse } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { suite } from "./support/suite.mjs";
import { setFirstCallback } from "./tasks/apps.mjs";
import { acceptInvite } from "./tasks/ceremony.mjs";
import * as testApp from "./tasks/test-app.mjs";

const shared = suite({ localSignIn: false, facts: false });

const WAYS = [
  [Mouse, 1440],
  [Keyboard, 390],
];

for (const [Hand, width] of WAYS) {
  test(`an invite leads to a verified callback by ${Hand.handName} at ${width} px`, async (t) => {
    const { signpost } = shared;
    const receiver = await startReceiver();
    t.after(receiver.stop);
    const publisher = await signpost.addPublisher("Kite Games");
    const invite = await signpost.invite(publisher);
    const page = await shared.open({ width, refusals: [SIGNED_OUT] });
    const hand = new Hand(page);
    await addAuthenticator(page);
    const begun = Date.now();

    await acceptInvite(page, hand, invite, { publisher: "Kite Games", member: "Ana Ruiz" });
    const appId = await testApp.addTestApp(page, hand);
    receiver.secrets = [await setFirstCallback(page, hand, receiver.url)];
    const user = `tester-${Hand.handName}`;
    const testPage = await testApp.openTestOffer(page, hand, user);
    await checkView(testPage);
    await testApp.reportApproved(testPage, new Hand(testPage));
    await checkView(testPage);
    await testPage.close();
    await testApp.readTestReward(page, hand, user);
    const seconds = Math.round((Date.now() - begun) / 1000);
    t.diagnostic(`${seconds} seconds from the invite to the reward's story`);

    const [{ query, ...call }, ...others] = receiver.calls;
    assert.deepEqual(others, []);
    assert.deepEqual(call, { status: 200, isOurs: true, isTest: true });
    assert.match(query.transaction_id, /^test-/);
    assert.deepEqual([query.user_id, query.app_id, query.value], [user, appId, "1250"]);
    await testApp.isInNoFigures(page, hand);
    await closePage(page);
  });
}
