// A session that ends while somebody is typing: what was typed comes back after the sign-in, to the same member alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, SIGNED_OUT, WIDTHS } from "./support/browser.mjs";
import { HANDS } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";
import { acceptInvite } from "./tasks/ceremony.mjs";
import { endSession, signInAfter } from "./tasks/kept.mjs";

const shared = suite({ localSignIn: false, facts: false });

const REFUSALS = [SIGNED_OUT, [401, /^\/v1\/dashboard\//]];
const MEMBERS = "/dashboard/settings/members";

/** A new owner, of a new account unless one is given, in a page of its own, with the authenticator that has the passkey. */
async function newOwner(Hand, width, account) {
  const publisher = account ?? (await shared.signpost.addPublisher("Kite Games"));
  const page = await shared.open({ width, refusals: REFUSALS });
  const authenticator = await addAuthenticator(page);
  const hand = new Hand(page);
  const invite = await shared.signpost.invite(publisher);
  await acceptInvite(page, hand, invite, { publisher: "Kite Games", member: "Ana Ruiz" });
  return { publisher, page, hand, authenticator };
}

/** The name that is typed into the dialog for an invite. */
async function typeInvite({ page, hand }, name) {
  await page.goto(MEMBERS);
  await hand.press(page.getByRole("button", { name: "Invite a member" }));
  const field = page.getByRole("dialog").getByLabel("Name");
  await hand.write(field, name);
  return field;
}

const send = ({ page, hand }) =>
  hand.press(page.getByRole("dialog").getByRole("button", { name: "Make the invite link" }));

for (const [Hand, width] of [
  [HANDS[0], WIDTHS[0]],
  [HANDS[1], WIDTHS[1]],
]) {
  test(`what was typed comes back after the session has ended by ${Hand.handName} at ${width} px`, async () => {
    const owner = await newOwner(Hand, width);
    const { page, hand } = owner;
    const field = await typeInvite(owner, "Tom Weber");
    const title = await page.title();
    await endSession(shared.signpost, page);
    await send(owner);
    await page.getByText("Your session has ended.").waitFor();
    assert.equal(await field.isVisible(), false);
    await signInAfter(page, hand);
    await field.waitFor();
    assert.equal(await field.inputValue(), "Tom Weber");
    assert.equal(await page.title(), title);
    assert.equal(await page.getByRole("dialog").getByRole("alert").count(), 0);
    await send(owner);
    await page.getByText(/\/dashboard#invite=/).waitFor();
    await closePage(page);
  });
}

test("another member of the same account sees nothing of what was typed", async () => {
  const [Hand] = HANDS;
  const other = await newOwner(Hand, WIDTHS[0]);
  const owner = await newOwner(Hand, WIDTHS[0], other.publisher);
  const { page, hand, authenticator } = owner;
  const field = await typeInvite(owner, "Tom Weber");
  await endSession(shared.signpost, page);
  await send(owner);
  await page.getByText("Your session has ended.").waitFor();
  await authenticator.replace(await other.authenticator.credentials());
  await hand.press(page.getByRole("button", { name: "Sign in with a passkey" }));
  await page.getByRole("button", { name: "Invite a member" }).waitFor();
  assert.equal(await field.count(), 0);
  assert.equal(await page.getByText("You are signed in again.").count(), 0);
  for (const one of [other, owner]) await closePage(one.page);
});

test("a secret that is shown goes with the session", async () => {
  const owner = await newOwner(HANDS[0], WIDTHS[0]);
  const { page, hand } = owner;
  await typeInvite(owner, "Tom Weber");
  await send(owner);
  const link = page.getByText(/\/dashboard#invite=/);
  await link.waitFor();
  await endSession(shared.signpost, page);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    Object.defineProperty(document, "hidden", { value: false });
    const now = Date.now;
    Date.now = () => now() + 120_000;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await page.getByText("Your session has ended.").waitFor();
  assert.equal(await link.count(), 0);
  await hand.press(page.getByRole("button", { name: "Sign in with a passkey" }));
  await page.getByRole("button", { name: "Invite a member" }).waitFor();
  assert.equal(await link.count(), 0);
  await closePage(page);
});
