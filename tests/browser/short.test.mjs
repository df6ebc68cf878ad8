// The short form for `make test`: of each site one ceremony, of the dashboard one main task, and axe for each page.
// `make browser` runs the others.

import { test } from "node:test";
import { closePage, SIGNED_OUT } from "./support/browser.mjs";
import { inviteToConsole } from "./support/console.mjs";
import { look } from "./support/gallery.mjs";
import { Mouse } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { SURVEY, WEB_APP } from "./support/rewards.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";
import { acceptInvite, signInAgain, signOut } from "./tasks/ceremony.mjs";
import { buildReport } from "./tasks/reports.mjs";

const shared = suite({ localSignIn: false });

const PAGES = [
  ["overview", "", "Top countries"],
  ["reports", "/reports", "Copy as curl"],
  ["apps", "/apps", "Lumen Arcade for iOS"],
  ["app", "/apps/10000002", "Without a signature, anyone with"],
  ["offers", "/apps/10000002/offers", "Make a tracking URL"],
  ["rewards", "/rewards", "Live"],
  ["keys", "/settings/keys", "No report keys"],
  ["pub-key", "/settings/pub_key", "Show the Pub-Key"],
  ["members", "/settings/members", "No invite is open."],
  ["passkeys", "/settings/passkeys", "Made with"],
  ["sessions", "/settings/sessions", "this browser"],
  ["audit", "/settings/audit", "Joined with an invite"],
];

const CONSOLE_PAGES = [
  ["attention", "", "Publishers to approve"],
  ["search", "/search#text=70155", "Paper Lantern Panels"],
  ["publishers", "/publishers", "Lumen Arcade"],
  ["publisher", `/publishers/${DEMO}`, "Its apps get offers"],
  ["publisher-people", `/publishers/${DEMO}?section=people`, "Invite somebody"],
  ["publisher-facts", `/publishers/${DEMO}?section=facts`, "by the operator"],
  ["publisher-app", `/apps/${WEB_APP}`, "Reconcile a day"],
  ["offers", "/offers", "72 offers"],
  ["offer", `/offers/${SURVEY.offer}`, "In force"],
  ["import", "/import", "Choose"],
  ["advertisers", "/advertisers", "6 advertisers"],
  ["advertiser", `/advertisers/${SURVEY.advertiser}`, "Its offers"],
  ["rewards", `/rewards?app=${WEB_APP}`, "This app has no reward yet."],
  ["service", "/service", "2 publishers, 4 apps"],
  ["members", "/settings/members", "Nora Lind"],
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

test("an operator joins the console with a passkey and comes back with it; every page is accessible", async (context) => {
  const refusals = [[401, "/v1/console/session"]];
  const page = await shared.open({ refusals });
  const hand = new Mouse(page);
  await addAuthenticator(page);
  await page.goto(await inviteToConsole(shared.signpost));
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await page.getByRole("heading", { name: "Attention" }).waitFor();
  await signOut(page, hand);
  await signInAgain(page, hand, "Attention");
  const [cookie] = (await page.context().cookies()).filter(({ name }) => !name.includes("ceremony"));
  for (const [name, path, text] of CONSOLE_PAGES) {
    const view = { path: `/console${path}`, cookie, shows: shows(text) };
    await context.test(name, () => look(shared, `short-console-${name}`, view, 1440, ["light"]));
  }
  await closePage(page);
});
