// The console's pages for open items, search, rewards and service, in their states. States that a test cannot reach,
// such as an object that is nearly full, come from an answer in place of the real one.

import { answerFor, holdCall } from "../support/console.mjs";
import { WEB_APP } from "../support/rewards.mjs";
import { attentionOf, BAD_DAY, serviceWith } from "../support/service.mjs";

const HOUR = 3_600_000;
const NO_COUNTS = {
  held: 0,
  capped: 0,
  dead: 0,
  disabled: 0,
  failing: 0,
  near_limit: 0,
  batch_refused: 0,
  batch_late: 0,
  differs: 0,
  unconfirmed: 0,
  terms_lost: 0,
};
const ONE_OF_EACH = Object.fromEntries(Object.keys(NO_COUNTS).map((kind) => [kind, 1]));
const NOTHING_OPEN = { items: [], counts: NO_COUNTS, not_listed: {}, behind_ms: 0, cursor: null };

const shows = (text) => (page) => page.getByText(text).first().waitFor();
const press = (name) => (page) => page.getByRole("button", { name }).first().click();

/** One item of each kind. */
function open(transaction) {
  const item = (kind, hours, more) => ({
    kind,
    app_id: WEB_APP,
    publisher_id: "lumen-arcade",
    subject: transaction,
    since_ms: Date.now() - hours * HOUR,
    ...more,
  });
  const object = { app_id: null, publisher_id: null, subject: "ledger-lumen-arcade", reason: "", bytes: 8.5e9 };
  return {
    items: [
      item("disabled", 130, { subject: "callback", reason: "switched_itself_off" }),
      item("held", 26, { reason: "too_fast", payout_usd: 0.35 }),
      item("capped", 12, { reason: "conversion_capped", payout_usd: 3.75 }),
      item("dead", 5, { reason: "http_503", payout_usd: 1.1 }),
      item("failing", 3, { subject: "callback", reason: "calls_fail" }),
      item("near_limit", 2, object),
      item("near_limit", 1.5, { ...object, subject: "outbox-10000003-2", bytes: 9.1e9 }),
      item("batch_refused", 1, { subject: "outbox-10000003-0: ledger: batch 17", reason: "unknown publisher" }),
      item("batch_late", 0.5, { subject: "outbox-10000003-0: ledger: batch 18", reason: "no_answer" }),
      item("differs", 0.2, { subject: "outbox-10000003-1: 2026-11-24", reason: "ledger_behind", payout_usd: 1.25 }),
      item("unconfirmed", 0.15, { app_id: null, subject: "2026-11-17", reason: "silent" }),
      item("unconfirmed", 0.15, { app_id: null, publisher_id: "kite", subject: "2026-11-17", reason: "differs" }),
      item("terms_lost", 0.1, { subject: "offer 23817 1795706999", reason: "terms_lost" }),
    ],
    counts: { ...ONE_OF_EACH, held: 1204, near_limit: 2, unconfirmed: 2 },
    not_listed: { held: 1203 },
    behind_ms: 0,
    cursor: "1.1",
  };
}

/** The list as it would be answered, by kind. */
const attention =
  ({ items, ...list }) =>
  (page) =>
    attentionOf(page, items, list);
const found = (json) => (page) => answerFor(page, "POST", "search", { json });
const searched = (text) => `/console/search#${new URLSearchParams({ text })}`;

/**
 * The views by name. `rewards` are transaction ids by state, `click` the click id of the approved one and `user` its user;
 * `support` is the cookie of a member who may not settle.
 */
export const operations = ({ admin, support, rewards = {}, click = "", user = "" }) => {
  const rewardList = (query = "") => `/console/rewards?app=${WEB_APP}${query}`;
  const reward = (state) => `/console/apps/${WEB_APP}/rewards/${rewards[state]}`;
  const failing = { status: 500, json: { code: "internal_error", error: "the test refuses this call" } };
  const views = {
    attention: {
      path: "/console",
      prepare: attention(open(rewards.held)),
      shows: shows("Switch on"),
      picture: "console",
    },
    "attention-kind": {
      path: "/console?kind=held",
      prepare: attention({ ...open(rewards.held), behind_ms: 90_000 }),
      shows: shows("behind by"),
    },
    "attention-well": { path: "/console", prepare: attention(NOTHING_OPEN), shows: shows("All is well") },
    "attention-loading": {
      path: "/console",
      isLoading: true,
      prepare: (page) => holdCall(page, "attention"),
      shows: (page) => page.locator(".skeleton").first().waitFor(),
    },
    "attention-failed": {
      path: "/console",
      refusals: [[500, "/v1/operator/attention"]],
      prepare: (page) => answerFor(page, "GET", "attention", failing),
      shows: shows("This could not be loaded"),
    },
    "search-empty": { path: "/console/search", act: (page) => page.keyboard.press("Control+k"), isOverlay: true },
    "search-commands": {
      path: "/console/service",
      act: async (page) => {
        await page.getByRole("textbox", { name: "Search" }).fill("new");
        await page.keyboard.press("ArrowDown");
      },
      shows: shows("New publisher"),
      isOverlay: true,
    },
    "search-none": {
      path: searched("x"),
      prepare: found({ matches: [], needs_app: false, is_incomplete: false }),
      shows: shows("No match"),
    },
    "search-app": {
      path: searched("x"),
      prepare: found({ matches: [], needs_app: true, is_incomplete: false }),
      shows: shows("Is it a user ID?"),
    },
    "search-several": {
      path: searched("x"),
      prepare: found({
        needs_app: false,
        is_incomplete: true,
        matches: [
          { kind: "publisher", publisher_id: "kite", name: "Kite <b>Games</b>", approved: false },
          { kind: "offer", offer_id: "70155", name: "Paper Lantern Panels", advertiser_id: "panels", active: false },
          { kind: "goal", goal_id: "71003", offer_id: "70155", title: "Confirm your e-mail" },
          { kind: "report_key", publisher_id: "kite", is_issued: true, key_id: null, label: null },
          { kind: "report_key", publisher_id: "kite", is_issued: true, key_id: "3f2a9c41", label: "Data warehouse" },
          { kind: "report_key", publisher_id: "kite", is_issued: false, key_id: null, label: null },
          { kind: "token", advertiser_id: "panels", token_id: "3", is_issued: true, is_valid: false },
          { kind: "token", advertiser_id: "panels", token_id: "4", is_issued: false, is_valid: true },
          { kind: "reward", app_id: WEB_APP, transaction_id: rewards.approved, state: "approved" },
        ],
      }),
      shows: shows("9 matches"),
    },
    "search-expired": {
      path: searched("x"),
      prepare: found({
        needs_app: false,
        is_incomplete: false,
        matches: [{ kind: "click", app_id: WEB_APP, shard: 3, not_shown: "expired", rewards: [] }],
      }),
      shows: shows("no longer stored"),
    },
    "search-click": { path: searched(click), shows: shows("Rewards of this click") },
    "search-user": {
      path: `/console/search#${new URLSearchParams({ text: user, app: WEB_APP })}`,
      shows: shows("Open as a list"),
    },
    rewards: { path: rewardList(), shows: shows("All matches are shown") },
    "rewards-choose": { path: "/console/rewards", shows: shows("Choose an app") },
    "rewards-none": { path: rewardList("&reason=nothing"), shows: shows("Nothing matches") },
    "rewards-unknown": {
      path: "/console/rewards?app=99999999",
      refusals: [[404, /99999999/]],
      shows: shows("There is no app with this App-Id"),
    },
    "rewards-settle": {
      path: rewardList("&status=held"),
      act: press("Approve or reject all that match"),
      shows: shows(/rewards? match/),
      isOverlay: true,
    },
    "rewards-support": { path: rewardList("&status=held"), cookie: support, shows: shows("Send callbacks again") },
    reward: { path: reward("approved"), shows: shows("What happened") },
    "reward-held": { path: reward("held"), shows: shows("What happened") },
    "reward-approve": { path: reward("held"), act: press("Approve…"), shows: shows("At most 200"), isOverlay: true },
    "reward-erase": { path: reward("held"), act: press("Erase this user…"), shows: shows("Type the"), isOverlay: true },
    "reward-missing": {
      path: `/console/apps/${WEB_APP}/rewards/00000000-0000-4000-8000-000000000000`,
      refusals: [[404, /story$/]],
      shows: shows("This app has no reward"),
    },
    service: {
      path: `/console/service?app=${WEB_APP}&date=${new Date().toISOString().slice(0, 10)}`,
      prepare: async (page) => {
        await attention(open(rewards.held))(page);
        await serviceWith(page, BAD_DAY);
      },
      shows: shows(/agrees:|agrees so far|differs by/),
    },
    "service-unknown": {
      path: "/console/service",
      prepare: async (page) => {
        await attention(NOTHING_OPEN)(page);
        await serviceWith(page, null);
      },
      shows: shows("Not known right now"),
    },
    "service-publish": {
      path: "/console/service",
      prepare: attention(NOTHING_OPEN),
      act: press("Publish now"),
      shows: shows("Publish all changes now?"),
      isOverlay: true,
    },
  };
  return Object.fromEntries(
    Object.entries(views).map(([name, view]) => [`console-${name}`, { cookie: admin, ...view }]),
  );
};
