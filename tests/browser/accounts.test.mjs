// Several accounts in one browser, and an account that is suspended: by mouse and again by keyboard alone, on a wide screen
// and on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, openTab, SIGNED_OUT } from "./support/browser.mjs";
import { WAYS } from "./support/hands.mjs";
import { addAuthenticator, call } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";
import * as accounts from "./tasks/accounts.mjs";
import { acceptInvite, signInAgain } from "./tasks/ceremony.mjs";

const shared = suite({ localSignIn: false, facts: false });

const REFUSALS = [SIGNED_OUT, [409, "/v1/dashboard/report_keys"], [403, /^\/v1\/dashboard\//]];

async function join(publisher, Hand, width) {
  const id = await shared.signpost.addPublisher(publisher);
  const page = await shared.open({ width, refusals: REFUSALS });
  const authenticator = await addAuthenticator(page);
  const hand = new Hand(page);
  await acceptInvite(page, hand, await shared.signpost.invite(id), { publisher, member: "Ana Ruiz" });
  return { id, page, hand, authenticator };
}

async function keysOf(page) {
  const { status, body } = await call(page, "GET", "/report_keys");
  assert.equal(status, 200);
  return body.report_keys;
}

for (const [Hand, width] of WAYS) {
  test(`a member works in several accounts by ${Hand.handName} at ${width} px`, async () => {
    const otter = await join("Otter Works", Hand, width);
    const { page, hand, authenticator } = await join("Kite Games", Hand, width);
    await authenticator.replace(await otter.authenticator.credentials());
    await closePage(otter.page);
    await accounts.addAccount(page, hand, "Otter Works");

    const tab = await openTab(page);
    await tab.goto("/dashboard/settings/keys");
    await tab.getByRole("heading", { name: "No report keys" }).waitFor();
    await accounts.switchAccount(page, hand, "Kite Games");
    await accounts.changeFormerAccount(tab, new Hand(tab), { former: "Otter Works", current: "Kite Games" });
    assert.deepEqual(await keysOf(page), []);
    await accounts.switchAccount(page, hand, "Otter Works");
    assert.deepEqual(await keysOf(page), []);

    const pine = await shared.signpost.addPublisher("Pine Lab");
    const invite = await shared.signpost.invite(pine);
    // The browser asks for a passkey only in the tab that is seen.
    await page.bringToFront();
    await accounts.joinBesides(page, hand, invite, { publisher: "Pine Lab", current: "Otter Works" });
    await accounts.signOutOfAll(page, hand);
    await tab.reload();
    await tab.getByRole("heading", { name: "Sign in" }).waitFor();
    await closePage(page);
  });

  test(`a member learns of a suspension by ${Hand.handName} at ${width} px`, async () => {
    const { id, page, hand } = await join("Kite Games", Hand, width);
    const approve = (approved) =>
      shared.signpost.operator("PUT", `/publishers/${id}`, { name: "Kite Games", approved });
    await accounts.openKeys(page, hand);
    await approve(false);
    await accounts.meetSuspension(page, hand, "mailto:support@example.com");
    await approve(true);
    await hand.press(page.getByRole("button", { name: "Sign in to another account" }));
    await signInAgain(page, hand, "Reports");
    await closePage(page);
  });
}
