// Callbacks as Signpost signs them, changed ones and edge cases, each with whether a receiver must believe it. The cases
// are those of `tests/verifiers/cases.rs`, whose tests hold `fixtures/verifiers/verify.mjs` to Signpost's own signer; here
// that verifier says what is right.

import { createHmac, randomBytes } from "node:crypto";
import { verify, verifyQuery } from "../../fixtures/verifiers/verify.mjs";

const REQUESTS = 24;
const OTHERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_.,&%";
const YEAR = 365 * 86_400;

const below = (limit) => Math.floor(Math.random() * limit);
const hmac = (secret, text, encoding) =>
  createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
    .update(text)
    .digest(encoding);

function signed(kind, now) {
  const secrets = Array.from(
    { length: 1 + (kind % 2) },
    () => `whsec_${randomBytes(24 + below(41)).toString("base64")}`,
  );
  const id = crypto.randomUUID();
  const name = kind % 8 < 4 ? "signature" : "signature_hmac";
  const before = `mine=a%2Fb&it's=é|&user_id=player-1&value=350&transaction_id=${id}&ts=${now}`;
  const query = `${before}&${name}=${hmac(secrets[0], before, "hex")}`;
  const payload = kind % 4 < 2 ? query : JSON.stringify({ user_id: "Zoë \u2028", value: 0.5, transaction_id: id });
  const signature = secrets.map((secret) => `v1,${hmac(secret, `${id}.${now}.${payload}`, "base64")}`).join(" ");
  return { secrets, id, timestamp: `${now}`, signature, payload, name, query: payload === query ? query : undefined };
}

const changed = (text, at) => {
  const other = OTHERS[below(OTHERS.length)];
  return other === text[at] ? changed(text, at) : text.slice(0, at) + other + text.slice(at + 1);
};
const places = (length) => [0, length - 1, length - 2, ...Array.from({ length: 4 }, () => below(length))];

/** All cases: by headers with `payload`, or by `query` alone; `good` says whether to believe it at `now`. */
export function callbackCases() {
  const now = Math.floor(Date.now() / 1000);
  const cases = [];
  const addHeaders = (one, changes = {}) => {
    for (const secret of one.secrets) {
      const { id, timestamp, signature, payload } = { ...one, ...changes };
      const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
      const at = changes.now ?? now;
      cases.push({ secrets: [secret], headers, payload, now: at, good: verify(secret, headers, payload, at) });
    }
  };
  const addQuery = ({ secrets: [secret], name }, query, at = now) =>
    cases.push({ secrets: [secret], query, name, now: at, good: verifyQuery(secret, query, at, name) });

  for (let kind = 0; kind < REQUESTS; kind += 1) {
    const one = signed(kind, now);
    for (const late of [0, 300, -300, 301, -301, 25 * YEAR, -25 * YEAR]) {
      addHeaders(one, { now: now + late });
      if (one.query) addQuery(one, one.query, now + late);
    }
    for (const part of ["id", "timestamp", "signature", "payload"])
      for (const at of places(one[part].length)) addHeaders(one, { [part]: changed(one[part], at) });
    if (one.query) for (const at of places(one.query.length)) addQuery(one, changed(one.query, at));
  }

  const one = signed(0, now);
  const mac = one.signature.slice("v1,".length);
  const nothing = `v1,${"A".repeat(43)}=`;
  for (const signature of [
    ...[
      `${nothing} ${one.signature}`,
      `v1a,${mac} v2,x ${one.signature} v9`,
      "",
      "v1,",
      " ",
      mac,
      `v1a,${mac}`,
      `v2,${mac}`,
    ],
    ...[nothing, one.signature.slice(0, -1), `${one.signature}=`, one.signature + one.signature],
  ])
    addHeaders(one, { signature });
  for (const timestamp of ["", "now", "-1", "99999999999999999999", "1e9", `${now}\n`]) addHeaders(one, { timestamp });
  const before = one.query.slice(0, one.query.lastIndexOf("&"));
  for (const query of [
    ...["", "signature=", one.query.slice(1), before, `${before}&signature=`, `${one.query}&`],
    ...[`${one.query}&user_id=other`, one.query.toUpperCase()],
  ])
    addQuery(one, query);
  for (const text of [
    ...[`ts=${now}`, `ts=${now}&token=t`, `user_id=u&ts=${now}`, "user_id=u", "user_id=u&ts=", "user_id=u&ts=now"],
    ...["user_id=u&ts=-1", "user_id=u&ts=99999999999999999999", `user_id=u&its=${now}`, `user_id=u&ts=${now}x`],
    `user_id=u&ts=1000000000&c1=ts=${now}`,
  ])
    addQuery(one, `${text}&signature=${hmac(one.secrets[0], text, "hex")}`);
  return cases;
}
