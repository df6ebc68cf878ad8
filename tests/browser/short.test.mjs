// The short form for `make test`: one ceremony, one main task, and axe for each page. `make browser` runs the others.

import { test } from "node:test";
import { closePage, SIGNED_OUT } from "./support/browser.mjs";
import { look } from "./support/gallery.mjs";
import { Mouse } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";
import { acceptInvite, signInAgain, signOut } from "./tasks/ceremony.mjs";
import { buildReport } from "./tasks/reports.mjs";

const shared = suite({ localSignIn: false });

const PAGES = [
  ["overview", "", "Top countries"],
  ["reports", "/reports", "Copy as curl"],
  ["apps", "/apps", "Lumen Arcade for iOS"],
  ["app", "/apps/10000002", "Without a signature, whoever has"],
  ["offers", "/apps/10000002/offers", "Make a tracking URL"],
  ["rewards", "/rewards", "Live"],
  ["keys", "/settings/keys", "No report keys"],
  ["pub-key", "/settings/pub_key", "Show the Pub-Key"],
  ["members", "/settings/members", "No invite is open."],
  ["passkeys", "/settings/passkeys", "Made with"],
  ["sessions", "/settings/sessions", "this browser"],
  ["audit", "/settings/audit", "Joined by an invite"],
];

const shows = (text) => (page) => page.getByText(text).first().waitFor();

test("a member joins with a passkey, comes back with it, and builds a report; every page is accessible", async (context) => {
  const page = await shared.open({ refusals: [SIGNED_OUT] });
  const hand = new Mouse(page);
  await addAuthenticator(page);
  await acceptInvite(page, hand, await shared.signpost.invite(), { publisher: "Lumen Arcade", member: "Ana Ruiz" });
  await signOut(page, hand);
  await signInAgain(page, hand, "Overview");
  await buildReport(page, hand);
  const [cookie] = (await page.context().cookies()).filter(({ name }) => !name.includes("ceremony"));

  const views = PAGES.map(([name, path, text]) => [name, { path: `/dashboard${path}`, cookie, shows: shows(text) }]);
  views.push(["sign-in", { path: "/dashboard", refusals: [SIGNED_OUT], shows: shows("Sign in with a passkey") }]);
  for (const [name, view] of views) {
    await context.test(name, () => look(shared, `short-${name}`, view, 1440, ["light"]));
  }
  await closePage(page);
});
