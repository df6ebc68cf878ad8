// The views of somebody who is not signed in, on a wide screen and on a phone, in light and dark.

import { test } from "node:test";
import { SIGNED_OUT, WIDTHS } from "./support/browser.mjs";
import { answer, hold, REQUEST_ID } from "./support/faults.mjs";
import { look } from "./support/gallery.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";

const PRESS = "Sign in with a passkey";

let invites;
const shared = suite({ localSignIn: false, facts: false }, async (signpost) => {
  const publisher = await signpost.addPublisher("Kite Games");
  invites = { publisher, open: await signpost.invite(publisher) };
});

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
};

for (const [name, view] of Object.entries(views)) {
  for (const width of WIDTHS) test(`${name} at ${width} px`, () => look(shared, name, view(), width));
}
