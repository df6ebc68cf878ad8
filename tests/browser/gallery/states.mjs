// Every page in its other states: loading, empty, partial, stale, refused, failed.

import assert from "node:assert/strict";
import { addDays, today } from "../support/facts.mjs";
import { answer, BROKEN_PART, change, hold, REQUEST_ID } from "../support/faults.mjs";

const OVERVIEW = "/dashboard";
const REPORTS = "/dashboard/reports";
const APPS = "/dashboard/apps";
const APP = `${APPS}/10000002`;
const REWARDS = "/dashboard/rewards";
const section = (name) => `/dashboard/settings/${name}`;

const shows = (text) => (page) => page.getByText(text).first().waitFor();
const failed = shows(`Request ID ${REQUEST_ID}`);
const BROKEN = { status: 500, code: "internal_error" };
const BUSY = { status: 503, code: "unavailable", headers: { "Retry-After": "30" } };
const refusal = ({ status }, path) => [status, `/v1/dashboard/${path}`];

// The page asks again once its data is older than two seconds.
const TOO_OLD_MILLISECONDS = 2_100;

/** A call is held back. */
const loading = (path, call, cookie) => ({
  path,
  cookie,
  isLoading: true,
  prepare: (page) => hold(page, call),
  shows: (page) => page.locator(".skeleton").first().waitFor(),
});

/** A call fails each time. */
const broken = (path, method, call, cookie, fault = BROKEN) => ({
  path,
  cookie,
  refusals: [refusal(fault, call)],
  prepare: (page) => answer(page, method, call, fault),
  shows: failed,
});

/** The view is there, and is opened again later, when the call fails. */
const stale = (path, method, call, cookie) => ({
  path,
  cookie,
  refusals: [refusal(BROKEN, call)],
  act: async (page) => {
    await page.locator(".tile-value, .table-card tbody").first().waitFor();
    await answer(page, method, call, BROKEN);
    await page.waitForTimeout(TOO_OLD_MILLISECONDS);
    const other = path === OVERVIEW ? "Settings" : "Overview";
    await page.getByRole("link", { name: other, exact: true }).click();
    await page.goBack();
  },
  shows: shows(/It could not be refreshed\./),
});

const NOTHING = {
  approved: 0,
  pending: 0,
  held: 0,
  rejected: 0,
  reversed: 0,
  refused: 0,
  approved_micro_usd: 0,
  reversed_micro_usd: 0,
};
// App 10000001 has a callback.
const SWITCHED_OFF = [
  { app_id: "10000001", ...NOTHING, endpoint: { state: "disabled", since: 1_790_000_000, waiting: 12, dead: 3 } },
  { app_id: "10000002", ...NOTHING, endpoint: { state: "failing", since: null, waiting: 2, dead: 0 } },
];

/** The callback of an app was switched off by its receiver. */
const switchedOff = (page) => change(page, "activity", (activity) => (activity.apps = SWITCHED_OFF));

/** The states by name, with the members' cookies. */
export const states = ({ owner, analyst, manager, withoutFacts, withOldFacts, unapproved, suspended }) => ({
  "overview-loading": loading(OVERVIEW, "overview", owner),
  "overview-empty": { path: OVERVIEW, cookie: withoutFacts, shows: shows("No numbers yet") },
  "overview-guides": {
    path: OVERVIEW,
    cookie: withoutFacts,
    prepare: (page) => change(page, "overview", (overview) => (overview.docs_url = "http://localhost/docs/")),
    shows: async (page) => {
      const hrefOf = (name) => page.getByRole("link", { name }).getAttribute("href");
      assert.equal(await hrefOf("Guide for app developers"), "http://localhost/docs/guides/app-developer/");
      assert.equal(await hrefOf("Guide for analysts"), "http://localhost/docs/guides/analyst/");
    },
  },
  "overview-unapproved": { path: OVERVIEW, cookie: unapproved, shows: shows(/is waiting for approval/) },
  suspended: {
    path: OVERVIEW,
    cookie: suspended,
    refusals: [[403, "/v1/dashboard/overview"]],
    shows: shows("This account is suspended"),
  },
  "overview-partial": {
    path: OVERVIEW,
    cookie: owner,
    prepare: async (page) => {
      await change(page, "overview", ({ reports }) => {
        reports.days = BROKEN_PART;
        reports.ads_current = BROKEN_PART;
        reports.previous = BROKEN_PART;
      });
      await change(page, "reports", ({ results }) => (results[1] = BROKEN_PART));
    },
    shows: shows("This part could not be calculated"),
  },
  "overview-old": {
    path: OVERVIEW,
    cookie: withOldFacts,
    shows: async (page) => {
      await shows(/Data through/)(page);
      assert.equal(await page.getByText("Today so far").count(), 0, "the data do not reach today");
    },
  },
  "overview-stale": stale(OVERVIEW, "GET", "overview", owner),
  "overview-failed": broken(OVERVIEW, "GET", "overview", owner),
  "overview-offline": {
    path: OVERVIEW,
    cookie: owner,
    refusals: [[0, "/v1/dashboard/overview"]],
    prepare: (page) => page.route("**/v1/dashboard/overview", (route) => route.abort("internetdisconnected")),
    shows: shows("There is no connection to Signpost."),
  },

  "reports-loading": loading(REPORTS, "reports", owner),
  "reports-empty": { path: `${REPORTS}?country=AQ`, cookie: owner, shows: shows("Nothing in these dates") },
  "reports-partial": {
    path: `${REPORTS}?split=app`,
    cookie: owner,
    prepare: (page) => change(page, "reports", ({ results }) => (results[1] = BROKEN_PART)),
    shows: shows("This part could not be calculated"),
  },
  "reports-old": {
    // The last 30 days end with the data, dates of one's own need not.
    path: `${REPORTS}?range=${addDays(today(), -20)}_${addDays(today(), -1)}`,
    cookie: withOldFacts,
    shows: async (page) => {
      await shows("Data through")(page);
      await page.locator(".chart-frame").press("End");
      await page.locator(".chart [aria-live]", { hasText: "no value" }).waitFor({ state: "attached" });
    },
  },
  "reports-stale": stale(REPORTS, "POST", "reports", owner),
  "reports-failed": broken(REPORTS, "POST", "reports", owner),
  "reports-busy": { ...broken(REPORTS, "POST", "reports", owner, BUSY), shows: shows("Try again in 30 seconds.") },
  "reports-export-failed": {
    path: REPORTS,
    cookie: owner,
    isOverlay: true,
    refusals: [refusal(BROKEN, "exports")],
    prepare: (page) => answer(page, "POST", "exports", BROKEN),
    act: async (page) => {
      await page.getByRole("table", { name: "Report", exact: true }).waitFor();
      await page.getByRole("button", { name: "Export" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
    },
    shows: failed,
  },

  "overview-activity-failed": broken(OVERVIEW, "GET", "activity", owner),

  "overview-switched-off": {
    path: OVERVIEW,
    cookie: owner,
    prepare: switchedOff,
    shows: async (page) => {
      await page.getByRole("link", { name: "Switch on again: Lumen Arcade for Android" }).waitFor();
      await page.getByRole("link", { name: "Send again: given up, Lumen Arcade for Android" }).waitFor();
    },
  },
  "app-switched-off": {
    path: `${APPS}/10000001`,
    cookie: owner,
    prepare: switchedOff,
    shows: (page) => page.getByRole("button", { name: "Switch on again" }).waitFor(),
  },
  "app-switch-on-failed": {
    path: `${APPS}/10000001`,
    cookie: owner,
    refusals: [refusal(BROKEN, "apps/10000001/callback/enable")],
    prepare: async (page) => {
      await switchedOff(page);
      await answer(page, "POST", "apps/10000001/callback/enable", BROKEN);
    },
    act: (page) => page.getByRole("button", { name: "Switch on again" }).click(),
    shows: failed,
  },

  "apps-loading": loading(APPS, "apps", owner),
  "apps-empty": { path: APPS, cookie: withoutFacts, shows: shows("No apps yet") },
  "apps-unapproved": {
    path: APPS,
    cookie: unapproved,
    isOverlay: true,
    refusals: [[403, "/v1/dashboard/apps"]],
    act: async (page) => {
      await page.getByRole("button", { name: "Set up an app" }).click();
      await page.getByLabel("Name").fill("Kite Racer");
      await page.keyboard.press("Enter");
    },
    shows: shows("Your account cannot have apps until"),
  },
  "apps-too-many-tests": {
    path: `${APPS}#test`,
    cookie: owner,
    isOverlay: true,
    refusals: [[409, "/v1/dashboard/apps"]],
    prepare: (page) => answer(page, "POST", "apps", { status: 409, code: "too_many_test_apps" }),
    act: (page) => page.getByRole("button", { name: "Add the test app" }).click(),
    shows: shows("Your account has 20 test apps"),
  },
  "apps-read-only": { path: APPS, cookie: analyst, shows: shows("Lumen Arcade for iOS") },
  "apps-stale": stale(APPS, "GET", "apps", owner),
  "apps-failed": broken(APPS, "GET", "apps", owner),
  "app-loading": loading(APP, "apps/10000002", owner),
  "app-refused": {
    path: APP,
    cookie: analyst,
    refusals: [[403, "/v1/dashboard/apps/10000002"]],
    shows: shows("Your role does not include this"),
  },
  "app-missing": {
    path: "/dashboard/apps/99999999",
    cookie: owner,
    refusals: [[404, "/v1/dashboard/apps/99999999"]],
    shows: shows("Your account has no app with this App-Id."),
  },
  "app-failed": broken(APP, "GET", "apps/10000002", owner),
  "app-changed-meanwhile": {
    path: APP,
    cookie: owner,
    refusals: [[412, "/v1/dashboard/apps/10000002"]],
    act: async (page) => {
      await page.getByLabel("Name", { exact: true }).fill("Lumen Arcade 2");
      await page.getByLabel("Units for 1 USD").fill("50");
      await change(page, "apps/10000002", (app) => {
        app.name = "Lumen Arcade for iPhone and iPad";
        app.currency.per_usd = 45;
      });
      await answer(page, "PATCH", "apps/10000002", { status: 412, code: "precondition_failed" });
      await page.getByRole("button", { name: "Save" }).first().click();
    },
    shows: shows("Somebody else changed this"),
  },
  "app-changed-not-loaded": {
    path: APP,
    cookie: owner,
    refusals: [
      [412, "/v1/dashboard/apps/10000002"],
      [503, "/v1/dashboard/apps/10000002"],
    ],
    act: async (page) => {
      await page.getByLabel("Name", { exact: true }).fill("Lumen Arcade 2");
      await answer(page, "GET", "apps/10000002", { status: 503, code: "unavailable" });
      await answer(page, "PATCH", "apps/10000002", { status: 412, code: "precondition_failed" });
      await page.getByRole("button", { name: "Save" }).first().click();
    },
    shows: shows("the latest state could not be loaded"),
  },
  "app-session-ended": {
    path: APP,
    cookie: owner,
    refusals: [[401, "/v1/dashboard/apps/10000002"]],
    prepare: (page) => answer(page, "PATCH", "apps/10000002", { status: 401, code: "not_signed_in" }),
    act: async (page) => {
      await page.getByLabel("Name", { exact: true }).fill("Lumen Arcade 2");
      await page.getByRole("button", { name: "Save" }).first().click();
    },
    shows: shows("what you typed is kept for you"),
  },
  "view-failed": {
    path: OVERVIEW,
    cookie: owner,
    refusals: [[0, /\/lazy-/]],
    prepare: (page) => page.route(/\/lazy-/, (route) => route.abort("internetdisconnected")),
    act: (page) => page.getByRole("link", { name: "Apps", exact: true }).first().click(),
    shows: shows("This page could not be loaded"),
  },
  "offers-loading": loading(`${APP}/offers`, "apps/10000002/offers", owner),
  "offers-none": {
    path: `${APP}/offers`,
    cookie: owner,
    act: (page) => page.getByLabel("Country of the user").selectOption("AQ"),
    shows: shows(/No offers for these users|as of/),
  },
  "offers-failed": broken(`${APP}/offers`, "POST", "apps/10000002/offers", owner),
  "rewards-loading": loading(REWARDS, "rewards", owner),
  "rewards-empty": { path: REWARDS, cookie: withoutFacts, shows: shows("No rewards yet") },
  "rewards-none": { path: `${REWARDS}#transaction=nothing`, cookie: owner, shows: shows("Nothing matches") },
  "rewards-failed": broken(REWARDS, "POST", "rewards", owner, { status: 400, code: "invalid_field" }),
  "rewards-stopped": {
    path: REWARDS,
    cookie: withoutFacts,
    refusals: [refusal(BUSY, "rewards")],
    act: async (page) => {
      await shows("No rewards yet")(page);
      await answer(page, "POST", "rewards", BUSY);
    },
    shows: shows("The list is not being updated."),
  },
  "rewards-late": {
    path: REWARDS,
    cookie: withoutFacts,
    prepare: (page) => change(page, "rewards", (page) => (page.behind_ms = 45_000)),
    shows: shows("Behind by 45 seconds"),
  },
  // The count asks for a fresh passkey, and can be tried again without one.
  "rewards-replay-unverified": {
    path: `${REWARDS}?app=10000001`,
    cookie: owner,
    isOverlay: true,
    refusals: [[403, "/v1/dashboard/apps/10000001/replays"], refusal(BROKEN, "verify/request")],
    prepare: async (page) => {
      await answer(page, "POST", "apps/10000001/replays", { status: 403, code: "verify_first" });
      await answer(page, "POST", "verify/request", BROKEN);
    },
    act: (page) => page.getByRole("button", { name: "Send callbacks again" }).click(),
    shows: async (page) => {
      await failed(page);
      await page.getByRole("dialog").getByRole("button", { name: "Try again" }).waitFor();
    },
  },
  "rewards-user-failed": {
    path: REWARDS,
    cookie: owner,
    isOverlay: true,
    refusals: [refusal(BROKEN, "users/export")],
    prepare: (page) => answer(page, "POST", "users/export", BROKEN),
    act: async (page) => {
      await page.getByRole("button", { name: "A user's data" }).click();
      await page.getByRole("dialog").getByLabel("User ID").fill("player-1");
      await page.keyboard.press("Enter");
    },
    shows: failed,
  },
  "reward-missing": {
    path: `${APP}/rewards/nothing`,
    cookie: owner,
    refusals: [[404, "/v1/dashboard/apps/10000002/rewards/nothing"]],
    shows: shows("This app has no reward with this transaction ID."),
  },
  "reward-failed": broken(`${APP}/rewards/some-id`, "GET", "apps/10000002/rewards/some-id", owner),

  "keys-loading": loading(section("keys"), "report_keys", owner),
  "keys-empty": { path: section("keys"), cookie: withoutFacts, shows: shows("No report keys") },
  "keys-refused": { path: section("keys"), cookie: analyst, shows: shows("Your role does not include this") },
  "keys-stale": stale(section("keys"), "GET", "report_keys", manager),
  "keys-failed": broken(section("keys"), "GET", "report_keys", owner),
  "keys-create-failed": {
    path: section("keys"),
    cookie: manager,
    refusals: [refusal(BROKEN, "report_keys")],
    prepare: (page) => answer(page, "POST", "report_keys", BROKEN),
    act: async (page) => {
      await page.getByLabel("Label").fill("Tableau");
      await page.keyboard.press("Enter");
    },
    shows: failed,
  },
  "pub-key-missing": {
    path: section("pub_key"),
    cookie: withoutFacts,
    act: (page) => page.getByRole("button", { name: "Show the Pub-Key" }).click(),
    shows: shows("No Pub-Key yet"),
  },
  "pub-key-refused": { path: section("pub_key"), cookie: analyst, shows: shows("Your role does not include this") },
  "pub-key-failed": {
    ...broken(section("pub_key"), "GET", "pub_key", owner),
    act: (page) => page.getByRole("button", { name: "Show the Pub-Key" }).click(),
  },
  "pub-key-request-failed": broken(section("pub_key"), "GET", "pub_key/request", owner),
  "members-loading": loading(section("members"), "members", owner),
  "members-refused": { path: section("members"), cookie: analyst, shows: shows("Your role does not include this") },
  "members-stale": stale(section("members"), "GET", "members", owner),
  "members-failed": broken(section("members"), "GET", "members", owner),
  "passkeys-loading": loading(section("passkeys"), "passkeys", owner),
  "passkeys-empty": { path: section("passkeys"), cookie: owner, shows: shows("No passkeys") },
  "passkeys-failed": broken(section("passkeys"), "GET", "passkeys", owner),
  "sessions-loading": loading(section("sessions"), "sessions", owner),
  "sessions-stale": stale(section("sessions"), "GET", "sessions", owner),
  "sessions-failed": broken(section("sessions"), "GET", "sessions", owner),
  "audit-loading": loading(section("audit"), "audit", owner),
  "audit-refused": { path: section("audit"), cookie: analyst, shows: shows("Your role does not include this") },
  "audit-stale": stale(section("audit"), "GET", "audit", owner),
  "audit-failed": broken(section("audit"), "GET", "audit", owner),
});
