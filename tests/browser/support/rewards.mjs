// Rewards made as in production: a user clicks, the advertiser reports the conversion, and the callback goes out.

import assert from "node:assert/strict";
import { USER_AGENT } from "./signpost.mjs";

// An offer of the demo for Germany, with goals of several levels.
const ADVERTISER = "brindlefox-games";
const CLICKED_GOAL = "410271";
const GOAL = "keep_level_5";
export const APP = "10000001";
export const OFFER = "23817";

/** Sends an app's callbacks to a receiver, as the operator does it. */
export async function sendCallbacksTo(signpost, url, secret, app = APP) {
  const { app_id, terms_revision, ...document } = await signpost.operator("GET", `/apps/${app}`);
  const callback = { url, method: "GET", secret, events: ["approved", "reversed"] };
  await signpost.operator("PUT", `/apps/${app}`, { ...document, callback });
}

/** An advertiser's token, which a Signpost gives at most twice. */
export const advertiserToken = async (signpost) => (await signpost.operator("POST", `/advertisers/${ADVERTISER}/token`)).token;

/** One user's click and conversion; returns the transaction id. */
export async function earn(signpost, token, user, app = APP) {
  const click = await fetch(
    `${signpost.base}/v2/tracking/click?rid=${CLICKED_GOAL}&app=${app}&user_id=${user}&c1=level-7`,
    { redirect: "manual", headers: { "CF-IPCountry": "DE", "User-Agent": USER_AGENT } },
  );
  assert.equal(click.status, 302, await click.text());
  const id = /[?&]clickid=([^&]+)/.exec(click.headers.get("Location"))[1];
  return convert(signpost, token, id);
}

async function convert(signpost, token, id, more = "") {
  const answer = await fetch(`${signpost.base}/v2/tracking/conversion?click_id=${id}&token=${token}&goal=${GOAL}${more}`);
  const body = await answer.text();
  assert.equal(answer.status, 200, body);
  return JSON.parse(body).transaction_id;
}
