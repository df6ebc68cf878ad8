// The views of somebody who is not signed in, and of somebody with passkeys, on a wide screen and on a phone, in light and dark.

import { test } from "node:test";
import { closePage, SIGNED_OUT, WIDTHS } from "./support/browser.mjs";
import { answer, hold, REQUEST_ID } from "./support/faults.mjs";
import { look } from "./support/gallery.mjs";
import { Mouse } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";
import { acceptInvite } from "./tasks/ceremony.mjs";

const PRESS = "Sign in with a passkey";
const PASSKEYS = "/dashboard/settings/passkeys";

let invites;
let member;
const shared = suite({ localSignIn: false, facts: false }, async (signpost) => {
  const publisher = await signpost.addPublisher("Kite Games");
  const other = await signpost.addPublisher("Otter Works");
  member = await makeMember(await signpost.invite(publisher));
  invites = { open: await signpost.invite(publisher), other: await signpost.invite(other) };
});

const addPasskey = (page) => page.getByRole("button", { name: "Add a passkey" }).click();

/** A member with two passkeys; returns the cookie and the second passkey. */
async function makeMember(invite) {
  const page = await shared.open({ refusals: [SIGNED_OUT] });
  const authenticator = await addAuthenticator(page);
  await acceptInvite(page, new Mouse(page), invite, { publisher: "Kite Games", member: "Ana Ruiz" });
  await authenticator.replace([]);
  await page.goto(PASSKEYS);
  await addPasskey(page);
  await page.locator("tbody tr").nth(1).waitFor();
  const credentials = await authenticator.credentials();
  const cookie = (await page.context().cookies()).find(({ value }) => value.startsWith("s_p_"));
  await closePage(page);
  return { cookie, credentials };
}

const shows = (text) => (page) => page.getByText(text).first().waitFor();
const press = (page) => page.getByRole("button", { name: PRESS }).click();
const refusals = [SIGNED_OUT];

/** The views by name. An invite that is only looked at stays open. */
const views = {
  "sign-in": () => ({ path: "/dashboard", refusals, shows: shows(PRESS) }),
  "sign-in-waiting": () => ({
    path: "/dashboard",
    refusals,
    prepare: (page) => hold(page, "passkeys/request"),
    act: press,
    shows: shows("Waiting for your passkey"),
  }),
  "sign-in-cancelled": () => ({
    path: "/dashboard",
    refusals,
    prepare: (page) => addAuthenticator(page),
    act: press,
    shows: shows(/No passkey was used/),
  }),
  "sign-in-failed": () => ({
    path: "/dashboard",
    refusals: [...refusals, [500, "/v1/dashboard/passkeys/request"]],
    prepare: (page) => answer(page, "POST", "passkeys/request", { status: 500, code: "internal_error" }),
    act: press,
    shows: shows(`Request ID ${REQUEST_ID}`),
  }),
  invite: () => ({ path: invites.open, refusals, shows: shows("Ana Ruiz") }),
  "invite-loading": () => ({
    path: invites.open,
    refusals,
    isLoading: true,
    prepare: (page) => hold(page, "invite"),
    shows: shows("Checking your invite"),
  }),
  "invite-unknown": () => ({
    path: `${invites.open}0`,
    refusals: [...refusals, [404, "/v1/dashboard/invite"]],
    shows: shows("This invite link does not work"),
  }),
  "invite-failed": () => ({
    path: invites.open,
    refusals: [...refusals, [500, "/v1/dashboard/invite"]],
    prepare: (page) => answer(page, "POST", "invite", { status: 500, code: "internal_error" }),
    shows: shows(`Request ID ${REQUEST_ID}`),
  }),
  "invite-besides": () => ({ path: invites.other, cookie: member.cookie, shows: shows("Not now") }),
  "invite-held": () => ({
    path: invites.open,
    cookie: member.cookie,
    shows: shows("You are signed in to Kite Games already"),
  }),

  passkeys: () => ({ path: PASSKEYS, cookie: member.cookie, shows: shows("Made with") }),
  "passkeys-waiting": () => ({
    path: PASSKEYS,
    cookie: member.cookie,
    prepare: (page) => hold(page, "passkeys/another/creation"),
    act: addPasskey,
    shows: shows("Waiting for your passkey"),
  }),
  "passkeys-stored": () => ({
    path: PASSKEYS,
    cookie: member.cookie,
    prepare: (page) => addAuthenticator(page, { credentials: member.credentials }),
    act: addPasskey,
    shows: shows(/^This device already has one of your passkeys/),
  }),
  "passkeys-remove": () => ({
    path: PASSKEYS,
    cookie: member.cookie,
    act: (page) =>
      page
        .getByRole("button", { name: /^Remove/ })
        .first()
        .click(),
    shows: (page) => page.getByRole("dialog").waitFor(),
    isOverlay: true,
  }),
};

for (const [name, view] of Object.entries(views)) {
  for (const width of WIDTHS) test(`${name} at ${width} px`, () => look(shared, name, view(), width));
}
