// The console's pages about publishers and apps, and their dialogs and states.

import { answerFor, changeMeanwhile, holdCall, signInToConsole } from "../support/console.mjs";
import { ago, CHANGED, daysInEachState, factsOf, restated } from "../support/days.mjs";
import { addDays, today } from "../support/facts.mjs";
import { FACTS_HEADER } from "../support/final-days.mjs";
import { changed, REQUEST_ID } from "../support/faults.mjs";
import { startReceiver } from "../support/receiver.mjs";
import { earn, sendCallbacksTo } from "../support/rewards.mjs";
import { addTestApp } from "./members.mjs";
import { DEMO } from "../support/signpost.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const LIST = "/console/publishers";
const PUBLISHER = `${LIST}/${DEMO}`;
const APP = "/console/apps/10000001";
const LONG_NAME = "Brightwater Interactive Entertainment Holdings GmbH";

const shows = (text) => (page) => page.getByText(text).first().waitFor();
const press = (name) => (page) => page.getByRole("button", { name }).first().click();
const dialog = (page) => page.getByRole("dialog").waitFor();

/** Cookies of an admin and of a support, with a bit of everything in the store, and a test app. */
export async function makeConsole(signpost, token) {
  const admin = await signInToConsole(signpost);
  const owner = await signpost.signIn(DEMO, "owner", "Ana Ruiz");
  await signpost.signIn(DEMO, "developer", "Tom Weber");
  await signpost.dashboard(owner, "POST", "/invites", { name: "Kenji Sato", role: "analyst" });
  await signpost.dashboard(owner, "POST", "/report_keys", { label: "Looker" });
  await signpost.dashboard(owner, "POST", "/report_keys", { label: "Support desk", scope: "ia-privacy.WRITE" });
  const reason = "The old one was in a repository that anybody can read.";
  await signpost.dashboard(owner, "POST", "/pub_key/request", { reason });
  await signpost.addPublisher(LONG_NAME, false);
  await switchOff(signpost, token);
  const { app_id: testApp } = await addTestApp(signpost, owner, "Test app");
  return { admin, support: await signInToConsole(signpost, "support", "Sam Okafor"), testApp };
}

/** A receiver that tells Signpost to stop, and then closes. */
async function switchOff(signpost, token) {
  const receiver = await startReceiver();
  receiver.failsWith = 410;
  await sendCallbacksTo(signpost, `${receiver.url}?user={user_id}&id={transaction_id}&coins={value}`, SECRET);
  await earn(signpost, token, "player-1");
  const endpointOf = async () => (await signpost.operator("GET", `/publishers/${DEMO}/activity`)).apps[0]?.endpoint;
  // The activity hears of it some seconds later.
  while ((await endpointOf())?.state !== "disabled") await new Promise((resolve) => setTimeout(resolve, 200));
  await receiver.stop();
}

const BROKEN = {
  status: 500,
  json: { error: "the test refuses this call", code: "internal_error" },
  headers: { "X-Request-Id": REQUEST_ID },
};

const broken = (path, call, cookie) => ({
  path,
  cookie,
  refusals: [[500, `/v1/operator/${call}`]],
  prepare: (page) => answerFor(page, "GET", call, BROKEN),
  shows: shows(`Request ID ${REQUEST_ID}`),
});

const loading = (path, call, cookie) => ({
  path,
  cookie,
  isLoading: true,
  prepare: (page) => holdCall(page, call),
  shows: (page) => page.locator(".skeleton").first().waitFor(),
});

const outbox = (number, paid, applied) => ({
  outbox: number,
  rewards: paid > 0 ? 3 : 0,
  reversals: 0,
  paid_micro_usd: paid,
  waiting_micro_usd: 0,
  ledger_micro_usd: applied,
  difference_micro_usd: paid - applied,
  ...(paid > applied && { behind: "ledger" }),
});

/** A day that differs, which only a damaged database makes. */
const DIFFERENT = {
  app_id: "10000001",
  date: "2026-11-03",
  outboxes: [outbox(0, 4_350_000, 4_350_000), outbox(1, 0, 0), outbox(2, 1_250_001, 0), outbox(3, 0, 0)],
  rewards: 6,
  rewards_after_24_h: 2,
  rewards_by_superseded_terms: 1,
  paid_micro_usd: 5_600_001,
  waiting_micro_usd: 0,
  ledger_micro_usd: 4_350_000,
  difference_micro_usd: 1_250_001,
  transactions: [
    { transaction_id: "02b8f2e8-31f4-4c1e-9d42-8a7c5d1e0f33", offer_id: "23817", paid_micro_usd: 1_250_001 },
  ],
};

/** The dialog of a day's restatement. */
const restating = (cookie, more) => ({
  path: `${PUBLISHER}?section=facts`,
  cookie,
  prepare: async (page) => {
    await factsOf(page, daysInEachState());
    await answerFor(page, "POST", `publishers/${DEMO}/days/${ago(1)}/restate`, { json: restated(ago(1), more) });
  },
  act: press(/^Restate /),
  shows: shows("Revenue after"),
  isOverlay: true,
});

const close = (publisher) => Object.assign(publisher, { approved: false, closed: true });

const CSV = "app_id,impressions\n10000001,many\n";

export const views = ({ admin, support, testApp }) => ({
  "console-publishers": { path: LIST, cookie: admin, shows: shows("Lumen Arcade") },
  "console-publishers-waiting": { path: `${LIST}?state=waiting`, cookie: admin, shows: shows(LONG_NAME) },
  "console-publishers-loading": loading(LIST, "publishers", admin),
  "console-publishers-failed": broken(LIST, "publishers", admin),
  "console-publisher-create": {
    path: LIST,
    cookie: admin,
    act: async (page) => {
      await press("Create a publisher")(page);
      await page.getByRole("dialog").getByLabel("Name").fill("Kite Games");
    },
    shows: dialog,
    isOverlay: true,
  },
  "console-pub-key-issue": {
    path: LIST,
    cookie: admin,
    act: press(/^Issue a new key/),
    shows: dialog,
    isOverlay: true,
  },
  "console-publisher": { path: PUBLISHER, cookie: admin, shows: shows("Callbacks that need attention") },
  "console-publisher-support": { path: PUBLISHER, cookie: support, shows: shows("Lumen Arcade for iOS") },
  "console-publisher-suspend": {
    path: PUBLISHER,
    cookie: admin,
    act: press("Suspend"),
    shows: dialog,
    isOverlay: true,
  },
  "console-publisher-close": {
    path: PUBLISHER,
    cookie: admin,
    act: press("Close publisher"),
    shows: dialog,
    isOverlay: true,
  },
  "console-publisher-closed": {
    path: PUBLISHER,
    cookie: admin,
    prepare: (page) => page.route(`**/v1/operator/publishers/${DEMO}`, changed(close)),
    shows: shows("Closed for good."),
  },
  "console-publishers-closed": {
    path: LIST,
    cookie: admin,
    prepare: (page) =>
      page.route(
        (url) => url.pathname === "/v1/operator/publishers",
        changed(({ publishers }) => close(publishers[0])),
      ),
    shows: shows("Closed"),
  },
  "console-publisher-edit": { path: PUBLISHER, cookie: admin, act: press("Edit"), shows: dialog, isOverlay: true },
  "console-publisher-changed-meanwhile": {
    path: PUBLISHER,
    cookie: admin,
    refusals: [[412, `/v1/operator/publishers/${DEMO}`]],
    act: async (page) => {
      await press("Edit")(page);
      await page.getByRole("dialog").getByLabel("Name").fill("Brightwater Interactive");
      await page.getByRole("dialog").getByLabel("Apps it may set up by itself").fill("12");
      await changeMeanwhile(page, `publishers/${DEMO}`, (publisher) => {
        publisher.name = LONG_NAME;
        publisher.max_apps = null;
      });
      await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    },
    shows: shows("Somebody else changed this"),
    isOverlay: true,
  },
  "console-test-app": { path: `/console/apps/${testApp}`, cookie: admin, shows: shows("Test app") },
  "console-publisher-missing": {
    path: `${LIST}/nobody`,
    cookie: admin,
    refusals: [[404, "/v1/operator/publishers/nobody"]],
    shows: shows("There is no publisher with this ID."),
  },
  "console-publisher-figures-failed": broken(PUBLISHER, `publishers/${DEMO}/activity`, admin),
  "console-publisher-people": { path: `${PUBLISHER}?section=people`, cookie: admin, shows: shows("Kenji Sato") },
  "console-publisher-invite": {
    path: `${PUBLISHER}?section=people`,
    cookie: admin,
    act: press("Invite somebody"),
    shows: dialog,
    isOverlay: true,
  },
  "console-publisher-people-failed": broken(`${PUBLISHER}?section=people`, `publishers/${DEMO}/members`, admin),
  "console-publisher-keys": { path: `${PUBLISHER}?section=keys`, cookie: admin, shows: shows("Looker") },
  "console-publisher-facts": { path: `${PUBLISHER}?section=facts`, cookie: admin, shows: shows("Loaded revenue") },
  "console-publisher-facts-states": {
    path: `${PUBLISHER}?section=facts`,
    cookie: admin,
    prepare: (page) => factsOf(page, daysInEachState()),
    shows: shows("Final, unconfirmed"),
  },
  "console-publisher-facts-nothing": {
    path: `${PUBLISHER}?section=facts`,
    cookie: admin,
    prepare: (page) => factsOf(page, daysInEachState()),
    act: press(/^Nothing to load/),
    shows: dialog,
    isOverlay: true,
  },
  "console-publisher-facts-restate": restating(admin, {
    ...CHANGED,
    damaged_segments: 1,
    not_kept: ["counters-3", "outbox-10000003-0"],
  }),
  "console-publisher-facts-restate-nothing": restating(admin),
  "console-publisher-facts-wrong": {
    path: `${PUBLISHER}?section=facts`,
    cookie: admin,
    refusals: [[400, /facts/]],
    act: async (page) => {
      await page
        .getByRole("button", { name: /^Replace / })
        .first()
        .click();
      const file = { name: "facts.csv", mimeType: "text/csv", buffer: Buffer.from(CSV) };
      await page.locator("input[type=file]").setInputFiles(file);
    },
    shows: shows("is missing from the header"),
    isOverlay: true,
  },
  "console-publisher-facts-check": {
    path: `${PUBLISHER}?section=facts`,
    cookie: admin,
    // The demo has facts of an app that it does not have.
    refusals: [[404, /apps/]],
    act: async (page) => {
      await page
        .getByRole("button", { name: /^Replace / })
        .first()
        .click();
      const text = `${FACTS_HEADER}today,10000001,DE,home,rewarded,northlight,7.1,400,380,350,12,3.25\n`;
      const day = await page.getByLabel("Day, in UTC").inputValue();
      const date = new Date(`${day} UTC`).toISOString().slice(0, 10);
      const file = { name: "facts.csv", mimeType: "text/csv", buffer: Buffer.from(text.replace("today", date)) };
      await page.locator("input[type=file]").setInputFiles(file);
    },
    shows: shows("would change."),
    isOverlay: true,
  },
  "console-publisher-facts-loading": loading(`${PUBLISHER}?section=facts`, `publishers/${DEMO}/facts`, admin),
  "console-publisher-audit": {
    path: `${PUBLISHER}?section=audit`,
    cookie: admin,
    shows: shows("Created a report key"),
  },
  "console-app": { path: APP, cookie: admin, shows: shows("Switched off") },
  "console-app-support": { path: APP, cookie: support, shows: shows("Switched off") },
  "console-app-loading": loading(APP, "apps/10000001", admin),
  "console-app-failed": broken(APP, "apps/10000001", admin),
  "console-app-terms": {
    path: APP,
    cookie: admin,
    act: press("Pay clicks before now under current terms"),
    shows: dialog,
    isOverlay: true,
  },
  "console-app-test": {
    path: APP,
    cookie: admin,
    act: async (page) => {
      await press("Send a test")(page);
      await press("Send the test")(page);
    },
    shows: shows(/^The receiver did not answer/),
  },
  "console-app-agrees": { path: `${APP}?date=${addDays(today(), -3)}`, cookie: admin, shows: shows(/ agrees: /) },
  "console-app-differs": {
    path: `${APP}?date=2026-11-03`,
    cookie: admin,
    prepare: (page) => answerFor(page, "GET", "reconcile", { status: 200, json: DIFFERENT }),
    shows: shows(/ differs by /),
  },
});
