// A partner of its own for a test: an app with a receiver, and an advertiser with an offer of one goal, for everybody.

import assert from "node:assert/strict";
import { DEMO, USER_AGENT } from "./signpost.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const GOAL = "install";
export const PAYOUT = 1.25;

/** `id` names the advertiser and the offer; `app` is the App-Id. `offer` changes its document. */
export async function addPartner(signpost, id, app, { receiver, offer = {} } = {}) {
  const partner = new Partner(signpost, id, app);
  await signpost.operator("PUT", `/advertisers/${id}`, { name: `Partner ${id}` });
  partner.token = (await signpost.operator("POST", `/advertisers/${id}/token`)).token;
  await signpost.operator("PUT", `/apps/${app}`, {
    publisher_id: DEMO,
    name: `App of ${id}`,
    platform: "android",
    currency: { name: "Coins", per_usd: 1000, decimals: 0, rounding: "down" },
    ...(receiver && { callback: { url: receiver.url, method: "GET", secret: SECRET } }),
    outbox_shards: 1,
  });
  await partner.putOffer(offer);
  return partner;
}

class Partner {
  constructor(signpost, id, app) {
    Object.assign(this, { signpost, id, app });
  }

  /** Stored and published. */
  async putOffer({ payout = PAYOUT, ...changes } = {}) {
    const { offer_id, terms_revision, updated_at, retired_goals, ...document } = await this.signpost.operator(
      "GET",
      "/offers/23817",
    );
    const goals = [{ id: `${this.id}-1`, ttl: "Play", instr: "", payout_usd: payout, ord: 1, gl_val: GOAL }];
    const offer = { ...document, name: `Offer of ${this.id}`, advertiser_id: this.id, goals, ...changes };
    await this.signpost.operator("PUT", `/offers/${this.id}`, offer);
    await this.signpost.operator("POST", "/refresh");
  }

  /** A user's click; returns the click id. */
  async click(user) {
    const query = new URLSearchParams({ rid: `${this.id}-1`, app: this.app, user_id: user });
    const answer = await fetch(`${this.signpost.base}/v2/tracking/click?${query}`, {
      redirect: "manual",
      headers: { "CF-IPCountry": "DE", "User-Agent": USER_AGENT },
    });
    const location = answer.headers.get("Location") ?? "";
    const id = /[?&]clickid=([^&]+)/.exec(location)?.[1];
    assert.ok(id, `${answer.status} ${location}`);
    return id;
  }

  postback(clickId, token = this.token) {
    return `${this.signpost.base}/v2/tracking/conversion?${new URLSearchParams({ click_id: clickId, token, goal: GOAL })}`;
  }

  /** Reports a click's conversion, which must be answered so; returns the body. */
  async convert(clickId, status = 200, token = this.token) {
    const answer = await fetch(this.postback(clickId, token));
    const body = await answer.json();
    assert.equal(answer.status, status, JSON.stringify(body));
    return body;
  }

  /** A user's click and its conversion at once; returns the transaction id. */
  async earn(user) {
    return (await this.convert(await this.click(user))).transaction_id;
  }

  /** The app's entries of a filter such as `status=refused`. */
  entries = async (filter) =>
    (await this.signpost.operator("GET", `/apps/${this.app}/conversions?${filter}`)).conversions;
}
