// Every page in its other states: loading, empty, partial, stale, refused, failed.

import assert from "node:assert/strict";
import { addDays, today } from "../support/facts.mjs";
import { answer, BROKEN_PART, change, hold, REQUEST_ID } from "../support/faults.mjs";

const OVERVIEW = "/dashboard";
const REPORTS = "/dashboard/reports";
const section = (name) => `/dashboard/settings/${name}`;

const shows = (text) => (page) => page.getByText(text).first().waitFor();
const failed = shows(`Request ID ${REQUEST_ID}`);
const BROKEN = { status: 500, code: "internal_error" };
const BUSY = { status: 503, code: "unavailable", headers: { "Retry-After": "30" } };
const refusal = ({ status }, path) => [status, `/v1/dashboard/${path}`];

// The page asks anew when what it has is older than two seconds.
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

/** The states by name, with the members' cookies. */
export const states = ({ owner, analyst, manager, withoutFacts, withOldFacts, unapproved, suspended }) => ({
  "overview-loading": loading(OVERVIEW, "overview", owner),
  "overview-empty": { path: OVERVIEW, cookie: withoutFacts, shows: shows("No numbers yet") },
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

  "keys-loading": loading(section("keys"), "report_keys", owner),
  "keys-empty": { path: section("keys"), cookie: withoutFacts, shows: shows("No report keys") },
  "keys-refused": { path: section("keys"), cookie: analyst, shows: shows("Your role does not include this") },
  "keys-stale": stale(section("keys"), "GET", "report_keys", manager),
  "keys-failed": broken(section("keys"), "GET", "report_keys", owner),
  "keys-create-failed": {
    path: section("keys"),
    cookie: manager,
    isOverlay: true,
    refusals: [refusal(BROKEN, "report_keys")],
    prepare: (page) => answer(page, "POST", "report_keys", BROKEN),
    act: async (page) => {
      await page.getByRole("button", { name: "Create a key" }).click();
      await page.getByLabel("Label").fill("Tableau");
      await page.keyboard.press("Enter");
    },
    shows: failed,
  },
  "pub-key-missing": {
    path: section("pub_key"),
    cookie: withoutFacts,
    act: (page) => page.getByRole("button", { name: "Show the Pub-Key" }).click(),
    shows: shows(/You have no Pub-Key yet/),
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
