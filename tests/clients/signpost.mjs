// A Signpost for the clients' tests: the demo's catalog and facts, and the keys of everybody who takes part in the loop.

import { startSignpost } from "../browser/support/signpost.mjs";

const PUBLISHER = "lumen-arcade";
const APP = "10000001";
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OPERATOR_TOKEN = "local-operator-token";
/** The app's, without its callback. */
const APP_DOCUMENT = {
  publisher_id: PUBLISHER,
  name: "Lumen Arcade for Android",
  platform: "android",
  currency: { name: "Coins", per_usd: 1000, decimals: 0, rounding: "down" },
};

/** Starts Signpost. `settings` are what a client is given, and what a test needs to act as the operator. */
export async function startLoop() {
  const signpost = await startSignpost();
  try {
    const { pub_key: pubKey } = await signpost.operator("GET", `/publishers/${PUBLISHER}/pub_key`);
    const key = async (scope) =>
      (await signpost.operator("POST", `/publishers/${PUBLISHER}/report_keys`, { label: "client", scope })).api_key;
    const settings = {
      url: signpost.base,
      appId: APP,
      pubKey,
      secret: SECRET,
      reportKey: await key("ia-reporting.READ"),
      rewardsKey: await key("ia-rewards.READ"),
      token: (await signpost.operator("POST", "/advertisers/brindlefox-games/token")).token,
      operatorToken: OPERATOR_TOKEN,
      app: APP_DOCUMENT,
    };
    return { signpost, settings };
  } catch (error) {
    await signpost.stop();
    throw error;
  }
}

/** Sends the app's callbacks to this address from now on. `more` are further fields of the app's document. */
export async function sendCallbacks(signpost, url, method, more = {}) {
  const app = { ...APP_DOCUMENT, ...more, callback: { url, method, secret: SECRET } };
  await signpost.operator("PUT", `/apps/${APP}`, app);
}

/** Opens a link as a user's browser in Germany; returns the status, and the click id of the landing URL. */
export async function open(link) {
  const answer = await fetch(link, {
    redirect: "manual",
    headers: { "CF-IPCountry": "DE", "User-Agent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/140.0.0.0 Mobile" },
  });
  const [, clickId] = /[?&]clickid=([^&]+)/.exec(answer.headers.get("Location") ?? "") ?? [];
  return { status: answer.status, clickId };
}
