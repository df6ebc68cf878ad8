// The console's pages about advertisers, their tokens and their postbacks, and their dialogs and states.

import { answerFor, holdCall, signInToConsole } from "../support/console.mjs";
import { REQUEST_ID } from "../support/faults.mjs";
import { advertiserToken, earn } from "../support/rewards.mjs";

const LIST = "/console/advertisers";
const ADVERTISER = `${LIST}/brindlefox-games`;
const REFUSED = "/console/postbacks";
const POSTBACKS = "advertisers/brindlefox-games/postbacks";

const shows = (text) => (page) => page.getByText(text).first().waitFor();
const press = (page, name) => page.getByRole("button", { name }).first().click();

export const postbackUrl = (signpost, parameters) =>
  `${signpost.base}/v2/tracking/conversion?${new URLSearchParams(parameters)}`;

/** Until the doctor has a postback with this code. */
export async function untilReported(signpost, advertiser, code) {
  const path = `/advertisers/${advertiser}/postbacks?code=${code}`;
  while ((await signpost.operator("GET", path)).postbacks.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 200));
}

/** Cookies of an admin and of a support, and an advertiser with a postback that was taken and one that was refused. */
export async function members(signpost) {
  const token = await advertiserToken(signpost);
  await signpost.operator("POST", "/refresh");
  await earn(signpost, token, "player-1");
  await fetch(postbackUrl(signpost, { click_id: "{click_id}", token, goal: "keep_level_5" }));
  for (const code of ["approved", "missing_field"]) await untilReported(signpost, "brindlefox-games", code);
  const url = postbackUrl(signpost, { click_id: "{click_id}", token });
  return {
    admin: await signInToConsole(signpost),
    support: await signInToConsole(signpost, "support", "Sam Okafor"),
    url,
  };
}

const BROKEN = {
  status: 500,
  json: { error: "the test refuses this call", code: "internal_error" },
  headers: { "X-Request-Id": REQUEST_ID },
};

const broken = (path, call, cookie, method = "GET") => ({
  path,
  cookie,
  refusals: [[500, `/v1/operator/${call}`]],
  prepare: (page) => answerFor(page, method, call, BROKEN),
  shows: shows(`Request ID ${REQUEST_ID}`),
});

export const views = ({ admin, support, url = "" }) => ({
  "console-advertisers": { path: LIST, cookie: admin, shows: shows("None: its postbacks are refused") },
  "console-advertisers-none": { path: `${LIST}?q=nothing`, cookie: admin, shows: shows("No advertiser matches") },
  "console-advertisers-empty": {
    path: LIST,
    cookie: admin,
    prepare: (page) => answerFor(page, "GET", "advertisers", { json: { advertisers: [], cursor: null } }),
    shows: shows("No advertisers yet"),
  },
  "console-advertisers-failed": broken(LIST, "advertisers", admin),
  "console-advertisers-create": {
    path: LIST,
    cookie: admin,
    act: (page) => press(page, "Create an advertiser"),
    isOverlay: true,
  },
  "console-advertisers-check": {
    path: LIST,
    cookie: support,
    act: async (page) => {
      await press(page, "Check a postback URL");
      await page.getByRole("textbox", { name: "Postback URL" }).fill(url);
      await press(page, "Check it");
    },
    shows: shows("It would be answered 400, missing_field"),
    isOverlay: true,
  },
  "console-advertiser": {
    path: ADVERTISER,
    cookie: admin,
    act: (page) =>
      page
        .getByText(/^\d parameters$/)
        .first()
        .click(),
    shows: (page) => page.locator("details[open] code").first().waitFor(),
  },
  "console-advertiser-used": {
    path: ADVERTISER,
    cookie: admin,
    prepare: (page) => {
      const now = Math.floor(Date.now() / 1000);
      const tokens = [
        { token_id: "1", last_used_at: now - 200 },
        { token_id: "2", last_used_at: now - 30 * 86_400 },
      ];
      return answerFor(page, "GET", POSTBACKS, {
        json: { postbacks: [], tokens, not_shown: 0, since: null, cursor: null },
      });
    },
    shows: shows("Last used 3 minutes ago"),
  },
  "console-advertiser-support": { path: ADVERTISER, cookie: support, shows: shows("Valid") },
  "console-advertiser-new": {
    path: `${LIST}/mangrove-mobile`,
    cookie: admin,
    shows: shows("No postback has come yet"),
  },
  "console-advertiser-none": {
    path: `${ADVERTISER}?code=too_fast`,
    cookie: admin,
    shows: shows("No postback has this answer"),
  },
  "console-advertiser-loading": {
    path: ADVERTISER,
    cookie: admin,
    isLoading: true,
    prepare: (page) => holdCall(page, POSTBACKS),
    shows: (page) => page.locator(".skeleton").first().waitFor(),
  },
  "console-advertiser-failed": broken(ADVERTISER, "advertisers/brindlefox-games", admin),
  "console-advertiser-without-postbacks": broken(ADVERTISER, POSTBACKS, admin),
  "console-refused-postbacks": {
    path: REFUSED,
    cookie: admin,
    shows: async (page) => {
      const table = page.getByRole("table", { name: "Refused postbacks" });
      await table.getByText("Parameter missing").first().waitFor();
      await table.getByRole("link", { name: "Brindlefox Games" }).first().waitFor();
    },
  },
  "console-refused-postbacks-empty": {
    path: REFUSED,
    cookie: support,
    prepare: (page) =>
      answerFor(page, "GET", "refused_postbacks", {
        json: { postbacks: [], tokens: [], not_shown: 0, since: null, cursor: null },
      }),
    shows: shows("No refused postbacks"),
  },
  "console-refused-postbacks-failed": broken(REFUSED, "refused_postbacks", admin),
  "console-advertiser-missing": {
    path: `${LIST}/nobody`,
    cookie: admin,
    refusals: [[404, "/v1/operator/advertisers/nobody"]],
    shows: shows("There is no advertiser with this ID"),
  },
  "console-advertiser-issue": {
    path: ADVERTISER,
    cookie: admin,
    act: (page) => press(page, "Issue a token"),
    isOverlay: true,
  },
  "console-advertiser-revoke": {
    path: ADVERTISER,
    cookie: admin,
    act: (page) => press(page, /^Revoke/),
    isOverlay: true,
  },
});
