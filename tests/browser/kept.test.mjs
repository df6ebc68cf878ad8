// A session that ends while somebody is typing: what was typed comes back after the sign-in, to the same member alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, SIGNED_OUT, WIDTHS } from "./support/browser.mjs";
import { inviteToConsole } from "./support/console.mjs";
import { HANDS, WAYS } from "./support/hands.mjs";
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

/** Shows the page again after a while, so that it asks who is signed in. */
const comeToPage = (page) =>
  page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    Object.defineProperty(document, "hidden", { value: false });
    const now = Date.now;
    Date.now = () => now() + 120_000;
    document.dispatchEvent(new Event("visibilitychange"));
  });

const send = ({ page, hand }) =>
  hand.press(page.getByRole("dialog").getByRole("button", { name: "Make the invite link" }));

for (const [Hand, width] of WAYS) {
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
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
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
  await comeToPage(page);
  await page.getByText("Your session has ended.").waitFor();
  assert.equal(await link.count(), 0);
  await hand.press(page.getByRole("button", { name: "Sign in with a passkey" }));
  await page.getByRole("button", { name: "Invite a member" }).waitFor();
  assert.equal(await link.count(), 0);
  await closePage(page);
});

test("another member finds nothing in the console's search box", async () => {
  const open = async (name) => {
    const page = await shared.open({ refusals: [[401, /^\/v1\/(console|operator)\//]] });
    const authenticator = await addAuthenticator(page);
    await page.goto(await inviteToConsole(shared.signpost, "admin", name));
    await page.getByRole("button", { name: "Create a passkey" }).click();
    await page.getByRole("button", { name: /^Account/ }).waitFor();
    return { page, authenticator };
  };
  const [other, { page, authenticator }] = [await open("Sam Idowu"), await open("Nora Lind")];
  const box = page.getByRole("search").getByRole("textbox", { name: "Search" });
  await box.fill("searched by the one before");
  await page.context().clearCookies();
  await comeToPage(page);
  await page.getByText("Your session has ended.").waitFor();
  // The hidden box has no shortcut.
  const isTaken = page.evaluate(
    () =>
      new Promise((done) => addEventListener("keydown", (event) => event.key === "k" && done(event.defaultPrevented))),
  );
  await page.keyboard.press("Control+k");
  assert.equal(await isTaken, false);
  await authenticator.replace(await other.authenticator.credentials());
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await box.waitFor();
  assert.equal(await box.inputValue(), "");
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  for (const one of [other.page, page]) await closePage(one);
});

test("going back from a kept view closes it", async () => {
  const { page, hand } = await newOwner(HANDS[0], WIDTHS[0]);
  await page.goto("/dashboard/reports");
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByRole("link", { name: "Members", exact: true }).click();
  await page.getByRole("button", { name: "Invite a member" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Tom Weber");
  await endSession(shared.signpost, page);
  await send({ page, hand });
  await page.getByText("what you typed is kept for you").waitFor();
  await page.goBack();
  await page.getByText("Your session has ended. Sign in to continue where you were.", { exact: true }).waitFor();
  await page.keyboard.press("w");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("button", { name: /^Account/ }).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  assert.equal(await page.getByText("You are signed in again.").count(), 0);
  assert.equal(new URL(page.url()).search, "");
  await closePage(page);
});
