// The console's pages about offers and the import, and their dialogs and states.

import { readFileSync } from "node:fs";
import { answerFor, changeMeanwhile, holdCall, signInToConsole } from "../support/console.mjs";
import { REQUEST_ID } from "../support/faults.mjs";

const LIST = "/console/offers";
const OFFER = `${LIST}/23990`;
const IMPORT = "/console/import";
const CATALOG = new URL("../../../fixtures/catalog.ndjson", import.meta.url);

const shows = (text) => (page) => page.getByText(text).first().waitFor();
const press = (page, name) => page.getByRole("button", { name }).first().click();

/** Cookies of an admin and of a support. */
export const members = async (signpost) => ({
  admin: await signInToConsole(signpost),
  support: await signInToConsole(signpost, "support", "Sam Okafor"),
});

const BROKEN = {
  status: 500,
  json: { error: "the test refuses this call", code: "internal_error" },
  headers: { "X-Request-Id": REQUEST_ID },
};

const broken = (path, call, cookie, text = `Request ID ${REQUEST_ID}`, method = "GET") => ({
  path,
  cookie,
  refusals: [[500, `/v1/operator/${call}`]],
  prepare: (page) => answerFor(page, method, call, BROKEN),
  shows: shows(text),
});

const NEW_LINE = `${JSON.stringify({ kind: "advertiser", id: "nova", name: "Nova Studios" })}\n`;

const choose = (name, buffer) => (page) =>
  page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/plain", buffer });

// A day on which caps are nearly used up takes thousands of clicks to make.
const NEAR = {
  as_of: 1_795_636_000,
  caps: [
    { offer_id: "31906", name: "Gilded Reels Social Casino", kind: "conversion", dur: "DAILY", lim: 200, used: 200 },
    {
      offer_id: "118203",
      name: "Pixie Walls: Wallpaper Gallery",
      kind: "click",
      dur: "DAILY",
      lim: 10_000,
      used: 9_630,
    },
    { offer_id: "60311", name: "Brass Kettle Coffee Club", kind: "click", dur: "DAILY", lim: 5, used: 4 },
    { offer_id: "60312", name: null, kind: "click", dur: "DAILY", lim: 5, used: 4 },
  ],
};

export const views = ({ admin, support }) => ({
  "console-offers": { path: LIST, cookie: admin, shows: shows("No clicks") },
  "console-offers-none": { path: `${LIST}?q=nothing`, cookie: admin, shows: shows("No offer matches") },
  "console-offers-empty": {
    path: LIST,
    cookie: admin,
    prepare: (page) => answerFor(page, "GET", "offers", { json: { offers: [], cursor: null } }),
    shows: shows("No offers yet"),
  },
  "console-offers-near-caps": {
    path: LIST,
    cookie: admin,
    prepare: (page) => answerFor(page, "GET", "caps", { json: NEAR }),
    shows: shows("4 daily caps are nearly used up"),
    isOverlay: true,
  },
  "console-offers-loading": {
    path: LIST,
    cookie: admin,
    isLoading: true,
    prepare: (page) => holdCall(page, "offers"),
    shows: (page) => page.locator(".skeleton").first().waitFor(),
  },
  "console-offers-failed": broken(LIST, "offers", admin),
  "console-offers-without-figures": broken(
    LIST,
    "offer_figures",
    admin,
    "The figures of the last 30 days could not be loaded.",
    "POST",
  ),
  "console-offers-create": {
    path: LIST,
    cookie: admin,
    act: (page) => press(page, "Create an offer"),
    isOverlay: true,
  },
  "console-offer": { path: OFFER, cookie: admin, shows: shows("In force") },
  "console-offer-support": { path: OFFER, cookie: support, shows: shows("Your role can only view offers.") },
  "console-offer-failed": broken(OFFER, "offers/23990", admin),
  "console-offer-new": {
    path: `${LIST}/new-one`,
    cookie: admin,
    refusals: [[404, "/v1/operator/offers/new-one"]],
    act: (page) => press(page, "Review and save"),
    shows: shows("Some fields need a correction."),
  },
  "console-offer-missing": {
    path: `${LIST}/new-one`,
    cookie: support,
    refusals: [[404, "/v1/operator/offers/new-one"]],
    shows: shows("There is no offer with this ID"),
  },
  "console-offer-review": {
    path: OFFER,
    cookie: admin,
    act: async (page) => {
      await page.getByLabel("Payout in USD").fill("0.2");
      await page.getByLabel("Ends at, UTC").fill("31 Jan 2027, 23:59");
      await press(page, "Review and save");
    },
    shows: shows("This makes new terms"),
    isOverlay: true,
    // Nothing is left that is asked about when the page is closed.
    leave: async (page) => {
      await press(page, "Cancel");
      await press(page, "Discard changes");
    },
  },
  "console-offer-changed-meanwhile": {
    path: OFFER,
    cookie: admin,
    refusals: [[412, "/v1/operator/offers/23990"]],
    act: async (page) => {
      await page.getByLabel("Payout in USD").fill("0.2");
      await page.getByLabel("Description").fill("Reach level 12, then collect the bonus.");
      await changeMeanwhile(page, "offers/23990", (offer) => {
        offer.goals[0].payout_usd = 0.35;
        offer.desc = "Reach level 12.";
      });
      await press(page, "Review and save");
      await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    },
    shows: shows("Somebody else changed this"),
    leave: (page) => press(page, "Discard changes"),
  },
  "console-offer-preview": {
    path: OFFER,
    cookie: admin,
    act: (page) => press(page, "Preview"),
    shows: shows("A click leads to"),
    isOverlay: true,
  },
  "console-offer-switch-off": { path: OFFER, cookie: admin, act: (page) => press(page, "Switch off"), isOverlay: true },
  "console-import": { path: IMPORT, cookie: admin, shows: shows("Drop an NDJSON file here") },
  "console-import-ready": {
    path: IMPORT,
    cookie: admin,
    act: choose("catalog.ndjson", Buffer.from(`${readFileSync(CATALOG)}${NEW_LINE}`)),
    shows: shows("85 resources are ready to import"),
  },
  "console-import-same": {
    path: IMPORT,
    cookie: admin,
    act: choose("catalog.ndjson", readFileSync(CATALOG)),
    shows: shows("Nothing would change"),
  },
  "console-import-wrong": {
    path: IMPORT,
    cookie: admin,
    refusals: [[400, "/v1/operator/import"]],
    act: choose("wrong.ndjson", Buffer.from('{"kind":"offer","id":"90001"}\nno JSON\n')),
    shows: shows("2 lines are wrong"),
  },
});
