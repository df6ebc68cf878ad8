// Every page as it is when all is well, and its panels and dialogs.

import { change } from "../support/faults.mjs";
import { today } from "../support/facts.mjs";
import { APP, OFFER } from "../support/rewards.mjs";

const LONG_USER = "4f1c2a9d8e7b6053".repeat(8);
const app = (id) => `/dashboard/apps/${id}`;
const button = (page, name) => page.getByRole("button", { name }).first();
const open = (name) => (page) => button(page, name).click();
const report = (page) => page.getByRole("table", { name: "Report", exact: true }).waitFor();
const shows = (text) => (page) => page.getByText(text).first().waitFor();
const dialog = (page) => page.getByRole("dialog").waitFor();

/**
 * The pages by name. `members` are cookies: of the demo's owner, of an owner whose account has a bit of everything, of one
 * who has asked for a new Pub-Key, and of a browser with several accounts. `reward` is a transaction id of the demo's,
 * `finalDay` a day of the demo that has changed, and `tried` what was done with a test app.
 */
export const pages = ({ owner, manager, asked, several, reward, finalDay, tried = {} }) => ({
  overview: { path: "/dashboard", cookie: owner, shows: shows("Japan"), picture: "dashboard" },
  "overview-week": {
    path: "/dashboard?range=last_week",
    cookie: owner,
    shows: shows("1 week before"),
  },
  "overview-dates": { path: "/dashboard", cookie: owner, act: open(/Last 30 days/), isOverlay: true },
  "overview-account": {
    path: "/dashboard",
    cookie: owner,
    act: open(/^Account/),
    shows: shows("Sign out"),
    isOverlay: true,
  },
  "overview-accounts": {
    path: "/dashboard",
    cookie: several,
    act: open(/^Account/),
    shows: shows("Sign out of all accounts"),
    isOverlay: true,
  },
  "account-add": {
    path: "/dashboard",
    cookie: several,
    act: async (page) => {
      await button(page, /^Account/).click();
      await button(page, "Add another account").click();
    },
    shows: shows("Use the passkey of the other account."),
  },
  "overview-cursor": {
    path: "/dashboard",
    cookie: owner,
    isOverlay: true,
    act: async (page) => {
      const frame = page.locator(".chart-frame");
      await frame.focus();
      for (const key of ["End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft"]) await frame.press(key);
      await page.locator(".tooltip").waitFor();
    },
  },
  "overview-table": {
    path: "/dashboard",
    cookie: owner,
    act: open("Show as table"),
    shows: (page) => page.getByRole("table", { name: "Revenue by day" }).waitFor(),
  },

  reports: { path: "/dashboard/reports", cookie: owner, shows: report },
  "reports-compared": {
    path: "/dashboard/reports?by=app,country&compare=1&split=app&rows=25",
    cookie: owner,
    shows: async (page) => {
      await report(page);
      await page.locator("tbody .cell-change", { hasText: "%" }).first().waitFor();
    },
  },
  "reports-wide": {
    path:
      "/dashboard/reports?by=date,app,country,demand_source&rows=25&country=US&country=DE&app=10000001" +
      "&metrics=revenue,ecpm,impressions,clicks,click_rate,ad_requests,ad_responses,fill_rate,show_rate",
    cookie: owner,
    shows: report,
  },
  "reports-ranking": {
    path: "/dashboard/reports?by=country&compare=1&split=country&chart=bar",
    cookie: owner,
    shows: (page) => page.locator(".ranking").waitFor(),
  },
  "reports-bars": {
    path: "/dashboard/reports?range=last_7&compare=1&chart=bar",
    cookie: owner,
    shows: (page) => page.locator(".chart svg .bars").first().waitFor(),
  },
  "reports-dates": {
    path: "/dashboard/reports",
    cookie: owner,
    act: open(/Last 30 days/),
    shows: shows("Custom dates"),
    isOverlay: true,
  },
  "reports-dimensions": {
    path: "/dashboard/reports",
    cookie: owner,
    act: open(/^Break down by/),
    shows: (page) => page.getByRole("checkbox", { name: "Placement" }).waitFor(),
    isOverlay: true,
  },
  "reports-metrics": {
    path: "/dashboard/reports?by=ad_tag",
    cookie: owner,
    act: open(/^Metrics/),
    shows: shows(/counted before an ad tag is known/),
    isOverlay: true,
  },
  "reports-filter": {
    path: "/dashboard/reports?country=DE",
    cookie: owner,
    isOverlay: true,
    act: async (page) => {
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      const box = page.getByRole("combobox", { name: "App is one of" });
      await box.fill("solitaire");
      await page.getByText("Enter adds Lumen Solitaire.").waitFor();
      await box.press("Enter");
      await box.fill("for ios");
      await page.getByText("Enter adds Lumen Arcade for iOS.").waitFor();
    },
  },
  "reports-export": {
    path: "/dashboard/reports?by=date,country",
    cookie: owner,
    act: async (page) => {
      await report(page);
      await button(page, "Export").click();
    },
    shows: dialog,
    isOverlay: true,
  },

  day: { path: `/dashboard/days/${finalDay}`, cookie: owner, shows: shows("Revenue by app") },
  "day-app": {
    path: `/dashboard/days/${today()}?app=${APP}`,
    cookie: owner,
    shows: (page) => page.getByRole("table", { name: "Offerwall by offer" }).waitFor(),
  },
  "day-offer": {
    path: `/dashboard/days/${today()}?app=${APP}&offer=${OFFER}`,
    cookie: owner,
    shows: (page) => page.getByRole("table", { name: "Rewards and reversals" }).waitFor(),
  },
  changes: { path: "/dashboard/changes", cookie: owner, shows: shows("Ad figures were added") },

  apps: { path: "/dashboard/apps", cookie: owner, shows: shows("Lumen Arcade for iOS") },
  "apps-create": {
    path: "/dashboard/apps",
    cookie: owner,
    act: open("Set up an app"),
    shows: dialog,
    isOverlay: true,
  },
  app: { path: app(APP), cookie: owner, shows: shows("Test your receiver") },
  "app-without-callback": { path: app("10000002"), cookie: owner, shows: shows("There is no callback yet.") },
  "app-typed": {
    path: app(APP),
    cookie: owner,
    act: async (page) => {
      await page.getByLabel("Units for 1 USD").fill("7.777");
      await page.getByLabel("Callback URL").fill("https://lumen-arcade.example/cb?user={usr_id}&x=[USER_ID]&y=}");
      await page.locator("summary", { hasText: "Macros" }).click();
    },
    shows: shows("Do you mean {user_id}?"),
  },
  "app-preview": {
    path: app(APP),
    cookie: owner,
    act: open("Preview"),
    shows: shows("Nothing was sent or saved."),
    isOverlay: true,
  },
  "app-rotate": { path: app(APP), cookie: owner, act: open("Rotate the secret"), shows: dialog, isOverlay: true },
  "app-rotate-lost": {
    path: app(APP),
    cookie: owner,
    prepare: (page) => change(page, `apps/${APP}`, ({ callback }) => (callback.has_previous_secret = true)),
    act: open("Continue the rotation"),
    shows: shows("I do not have it: make another"),
    isOverlay: true,
  },
  "app-sign-clicks": {
    path: app("10000002"),
    cookie: owner,
    act: open("Require signed clicks"),
    shows: dialog,
    isOverlay: true,
  },
  "app-leave": {
    path: app("10000002"),
    cookie: owner,
    isOverlay: true,
    act: async (page) => {
      await page.getByRole("textbox", { name: "Fallback URL" }).fill("https://play.lumen-arcade.example/");
      await page.getByRole("link", { name: "Reports", exact: true }).click();
    },
    shows: shows("Leave without saving?"),
  },
  "apps-with-test": { path: "/dashboard/apps", cookie: tried.owner, shows: shows("Kite Racer") },
  "apps-add-test": {
    path: "/dashboard/apps#test",
    cookie: tried.owner,
    shows: dialog,
    isOverlay: true,
  },
  "test-app": { path: app(tried.app), cookie: tried.owner, shows: shows("This is a test app.") },
  "test-offers": { path: `${app(tried.app)}/offers`, cookie: tried.owner, shows: shows("Test offer: one goal") },
  "test-rewards": { path: `/dashboard/rewards?app=${tried.app}`, cookie: tried.owner, shows: shows("player-1") },
  "test-reward": {
    path: `${app(tried.app)}/rewards/${tried.reward}`,
    cookie: tried.owner,
    shows: shows("What happened"),
  },
  "test-page": { path: tried.fresh, shows: shows("Nothing reported yet.") },
  "test-page-reported": { path: tried.page, shows: shows("Approved: the reward was paid.") },
  offers: { path: `${app(APP)}/offers`, cookie: owner, shows: shows("Make a tracking URL") },
  "offers-url": {
    path: `${app(APP)}/offers`,
    cookie: owner,
    act: async (page) => {
      await button(page, /^Tracking URL for /).click();
      await page.getByLabel("User ID").fill("player-1");
      await page.keyboard.press("Enter");
    },
    shows: shows("Open it (makes a click)"),
  },
  rewards: { path: "/dashboard/rewards", cookie: owner, shows: shows("player-1") },
  "rewards-dates": {
    path: "/dashboard/rewards?from=2026-01-01",
    cookie: owner,
    act: async (page) => {
      await open("Conversions (UTC): Since 1 Jan 2026")(page);
      await page.getByLabel("To", { exact: true }).fill("25.11.2026");
      await page.keyboard.press("Enter");
    },
    shows: shows("“25.11.2026” is not a date."),
    isOverlay: true,
  },
  "rewards-filters": {
    path: `/dashboard/rewards?app=${APP}&from=2026-01-01#user=player-1`,
    cookie: owner,
    shows: shows("player-1"),
  },
  "rewards-replay": {
    path: `/dashboard/rewards?app=${APP}&delivery=waiting`,
    cookie: owner,
    act: open("Send callbacks again"),
    shows: shows(/match|No matching callback can be sent again/),
    isOverlay: true,
  },
  "rewards-replay-filtered": {
    path: `/dashboard/rewards?app=${APP}&state=held&from=2026-01-01&to=2026-01-31`,
    cookie: owner,
    act: open("Send callbacks again"),
    shows: shows("Only those that match the list’s filters: State Held for review."),
    isOverlay: true,
  },
  "rewards-replay-dates": {
    path: `/dashboard/rewards?app=${APP}&delivery=waiting`,
    cookie: owner,
    act: async (page) => {
      await open("Send callbacks again")(page);
      await page.getByRole("dialog").getByRole("button", { name: "Conversions (UTC): Any time" }).click();
    },
    shows: shows("Custom dates"),
    isOverlay: true,
  },
  "rewards-user": {
    path: "/dashboard/rewards",
    cookie: owner,
    act: open("A user's data"),
    shows: dialog,
    isOverlay: true,
  },
  "rewards-user-erase": {
    path: `/dashboard/rewards?app=${APP}#user=player-1`,
    cookie: owner,
    act: async (page) => {
      await button(page, "A user's data").click();
      await page.getByRole("dialog").getByRole("button", { name: "Erase" }).click();
    },
    shows: shows("Erase player-1?"),
    isOverlay: true,
  },
  "rewards-user-erased": {
    path: "/dashboard/rewards",
    cookie: owner,
    prepare: (page) =>
      page.route("**/v1/dashboard/users/erase", (route) =>
        route.fulfill({ json: { apps: 3, erased: 1240, waiting: 2, cursor: null } }),
      ),
    act: async (page) => {
      await button(page, "A user's data").click();
      await page.getByRole("dialog").getByLabel("User ID").fill(LONG_USER);
      await page.getByRole("dialog").getByRole("button", { name: "Erase" }).click();
      await page.getByRole("button", { name: "Erase the user" }).click();
    },
    shows: shows("1,240 rewards were cleared."),
    isOverlay: true,
  },
  reward: { path: `${app(APP)}/rewards/${reward}`, cookie: owner, shows: shows("What happened") },
  "reward-replay": {
    path: `${app(APP)}/rewards/${reward}`,
    cookie: owner,
    act: open("Send it again"),
    shows: dialog,
    isOverlay: true,
  },

  keys: { path: "/dashboard/settings/keys", cookie: manager, shows: shows("Looker") },
  "keys-created": {
    path: "/dashboard/settings/keys",
    cookie: manager,
    act: async (page) => {
      await page.getByLabel("Label").fill("Tableau");
      await page.keyboard.press("Enter");
    },
    shows: shows(/^sk_/),
    leave: async (page) => {
      await page.getByRole("button", { name: "Revoke Tableau" }).first().click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    },
  },
  "keys-revoke": {
    path: "/dashboard/settings/keys",
    cookie: manager,
    act: open("Revoke Looker"),
    shows: dialog,
    isOverlay: true,
  },
  "pub-key": { path: "/dashboard/settings/pub_key", cookie: manager, shows: shows("Show the Pub-Key") },
  "pub-key-shown": {
    path: "/dashboard/settings/pub_key",
    cookie: manager,
    act: open("Show the Pub-Key"),
    shows: shows("Hide"),
  },
  "pub-key-ask": {
    path: "/dashboard/settings/pub_key",
    cookie: manager,
    act: open("Ask for a new one"),
    shows: dialog,
    isOverlay: true,
  },
  "pub-key-asked": { path: "/dashboard/settings/pub_key", cookie: asked, shows: shows(/asked for a new Pub-Key/) },
  members: { path: "/dashboard/settings/members", cookie: manager, shows: shows("Priya Raghunathan") },
  "members-invite": {
    path: "/dashboard/settings/members",
    cookie: manager,
    act: open("Invite a member"),
    shows: dialog,
    isOverlay: true,
  },
  "members-invited": {
    path: "/dashboard/settings/members",
    cookie: manager,
    isOverlay: true,
    act: async (page) => {
      await button(page, "Invite a member").click();
      await page.getByLabel("Name").fill("Mia Chen");
      await page.getByRole("button", { name: "Make the invite link" }).click();
    },
    shows: shows(/#invite=inv_/),
    leave: async (page) => {
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByRole("button", { name: "Withdraw: Mia Chen" }).first().click();
      await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    },
  },
  "members-role": {
    path: "/dashboard/settings/members",
    cookie: manager,
    act: (page) => page.getByLabel("Role of Priya Raghunathan").selectOption("owner"),
    shows: dialog,
    isOverlay: true,
  },
  "members-recovery": {
    path: "/dashboard/settings/members",
    cookie: manager,
    act: open("Recovery link: Priya Raghunathan"),
    shows: dialog,
    isOverlay: true,
  },
  "members-remove": {
    path: "/dashboard/settings/members",
    cookie: manager,
    act: open("Remove Tom Weber"),
    shows: shows("Nightly export to BigQuery"),
    isOverlay: true,
  },
  "members-withdraw": {
    path: "/dashboard/settings/members",
    cookie: manager,
    act: open("Withdraw: Kenji Sato"),
    shows: dialog,
    isOverlay: true,
  },
  sessions: { path: "/dashboard/settings/sessions", cookie: manager, shows: shows("this browser") },
  alarms: { path: "/dashboard/settings/alarms", cookie: owner, shows: shows("No alarms yet") },
  "alarms-set": {
    path: "/dashboard/settings/alarms",
    cookie: owner,
    act: open("Set an address"),
    shows: dialog,
    isOverlay: true,
  },
  "alarms-shown": {
    path: "/dashboard/settings/alarms",
    cookie: manager,
    act: async (page) => {
      await button(page, /^(Set an|Change the) address/).click();
      await page.getByRole("textbox", { name: "Address" }).fill("http://127.0.0.1:59999/alarms?key=0123456789abcdef");
      await page.getByRole("dialog").getByRole("button", { name: "Set the address" }).click();
      await page.getByText("Copy the secret now").waitFor();
      await page.getByRole("button", { name: "Done" }).click();
    },
    shows: shows("Nothing sent yet"),
  },
  audit: { path: "/dashboard/settings/audit", cookie: manager, shows: shows("Created a report key") },
  missing: { path: "/dashboard/nothing", cookie: owner, shows: shows("There is no page at this address.") },
});
