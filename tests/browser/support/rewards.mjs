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
export const advertiserToken = async (signpost, advertiser = ADVERTISER) =>
  (await signpost.operator("POST", `/advertisers/${advertiser}/token`)).token;

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
  const answer = await fetch(
    `${signpost.base}/v2/tracking/conversion?click_id=${id}&token=${token}&goal=${GOAL}${more}`,
  );
  const body = await answer.text();
  assert.equal(answer.status, 200, body);
  return JSON.parse(body).transaction_id;
}

// An app with few rewards a day, and offers of two advertisers: one whose conversions are held when they come at once, and
// one whose goal is paid once to a user.
export const WEB_APP = "10000003";
export const VISIT = { offer: "60231", advertiser: "veldmark-commerce", country: "GB" };
export const SURVEY = { offer: "70155", advertiser: "paper-lantern-panels", country: "US", goal: "doi" };

/**
 * A click and its conversion, which may be held or refused; returns the click id, and the transaction id unless it was
 * refused. `more` are further parameters of the postback.
 */
export async function report(signpost, token, { offer, country, goal }, user, more = {}, app = WEB_APP) {
  const { goals } = await signpost.operator("GET", `/offers/${offer}`);
  const query = new URLSearchParams({ rid: goals[0].id, app, user_id: user });
  const click = await fetch(`${signpost.base}/v2/tracking/click?${query}`, {
    redirect: "manual",
    headers: { "CF-IPCountry": country, "User-Agent": USER_AGENT },
  });
  // Advertisers carry the click id in different places of their URLs. The app's fallback URL has none.
  const ids = click.headers.get("Location").match(/[A-Za-z0-9_-]{40,}/g) ?? [];
  const clickId = ids.sort((one, other) => other.length - one.length)[0];
  assert.ok(clickId, click.headers.get("Location"));
  const postback = new URLSearchParams({ click_id: clickId, token, ...(goal && { goal }), ...more });
  const answer = await fetch(`${signpost.base}/v2/tracking/conversion?${postback}`);
  const { transaction_id: transactionId } = await answer.json();
  assert.ok([200, 409].includes(answer.status), String(answer.status));
  return { transactionId, clickId };
}
