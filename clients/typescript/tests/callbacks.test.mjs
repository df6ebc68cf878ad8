// Callbacks: signatures and times by the cases of the pasted verifiers, events, tests, and what is paid once.

import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { test } from "node:test";
import {
  Callbacks,
  InvalidCallback,
  InvalidParameter,
  InvalidSignature,
  InvalidTime,
  MemoryStore,
  verifyCallback,
  verifyCallbackQuery,
} from "@signpost/client";
import { callbackCases } from "../../../tests/clients/cases.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const hmac = (text, encoding) =>
  createHmac("sha256", Buffer.from(SECRET.slice(6), "base64"))
    .update(text)
    .digest(encoding);
const now = () => Math.floor(Date.now() / 1000);

const fields = (more = {}) => ({
  ...{ user_id: "player-1", value: 350, payout: 0.35, currency: "Coins", transaction_id: randomUUID() },
  ...{ offer_id: "23817", goal_id: "410271", app_id: "10000001", click_ts: now() - 60, conversion_ts: now() },
  status: "approved",
  ...more,
});

function headersOf(id, payload) {
  const at = now();
  return {
    "webhook-id": id,
    "webhook-timestamp": `${at}`,
    "webhook-signature": `v1,${hmac(`${id}.${at}.${payload}`, "base64")}`,
  };
}

function byGet(event) {
  const before = `mine=1&${new URLSearchParams(event)}&ts=${now()}`;
  const query = `${before}&signature=${hmac(before, "hex")}`;
  return { url: `/callback?${query}`, headers: headersOf(event.transaction_id, query) };
}

function byPost(event) {
  const body = JSON.stringify(event);
  return { url: "/callback", headers: headersOf(event.transaction_id, body), body };
}

test("the verifiers accept what the pasted ones accept, and nothing else", async () => {
  const cases = callbackCases();
  assert.ok(cases.filter((each) => each.good).length > 60 && cases.filter((each) => !each.good).length > 500);
  for (const { secrets, headers, payload, query, name, now: at, good } of cases) {
    const verified = headers
      ? verifyCallback(secrets, headers, payload, { now: at })
      : verifyCallbackQuery(secrets, query, { name, now: at });
    const believed = await verified.then(
      () => true,
      (error) => {
        assert.ok(error instanceof InvalidSignature || error instanceof InvalidTime, error);
        return false;
      },
    );
    assert.equal(believed, good, JSON.stringify({ secrets, headers, payload, query, name, at }));
  }
});

test("a receiver that passes an invalid time trusts no callback", async () => {
  const { headers, body } = byPost(fields());
  await assert.rejects(verifyCallback([SECRET], headers, body, { now: Number.NaN }), InvalidTime);
});

test("both secrets of a rotation are accepted, as bytes and as text", async () => {
  const { headers, body } = byPost(fields());
  const other = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
  await verifyCallback([other, SECRET], new Headers(headers), Buffer.from(body));
  await assert.rejects(verifyCallback([other], headers, body), InvalidSignature);
  const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  await verifyCallback([SECRET], capitals, body);
});

test("a wrong secret is found when the receiver is made", () => {
  const store = new MemoryStore();
  for (const secrets of [[], ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], ["whsec_"], ["whsec_AAAA"], ["whsec_%%"]])
    assert.throws(() => new Callbacks({ secrets, store }), InvalidParameter, `${secrets}`);
});

test("an event by GET equals the same event by POST", async () => {
  for (const more of [
    { c1: "level-7", country: "DE", goal_value: "keep_level_5" },
    { status: "reversed", value: -350, payout: -0.35, original_transaction_id: randomUUID(), reason: "fraud & more" },
    { status: "pending", value: 0, payout: 0, pending_value: 350.5, original_transaction_id: randomUUID() },
  ]) {
    const event = fields(more);
    for (const request of [byGet(event), byPost(event)]) {
      const callbacks = new Callbacks({ secrets: [SECRET], store: new MemoryStore() });
      assert.deepEqual(await callbacks.receive(request), { event, isNew: true, isTest: false });
    }
  }
});

test("a repeat is answered and not paid again", async () => {
  const store = new MemoryStore();
  const callbacks = new Callbacks({ secrets: [SECRET], store });
  const event = fields();
  const received = await Promise.all(
    [byGet(event), byPost(event), byGet(event)].map((each) => callbacks.receive(each)),
  );
  // Their signatures are checked at once, so any of them may be the first.
  assert.equal(received.filter((each) => each.isNew).length, 1);
  assert.deepEqual([...store.events.values()], [event]);
});

test("a test from the dashboard does not reach the store", async () => {
  const store = new MemoryStore();
  const callbacks = new Callbacks({ secrets: [SECRET], store });
  const { isNew, isTest } = await callbacks.receive(byGet(fields({ transaction_id: `test-${"0".repeat(32)}` })));
  assert.deepEqual([isNew, isTest, store.events.size], [false, true, 0]);
});

test("a signed callback that cannot be read is refused", async () => {
  const callbacks = new Callbacks({ secrets: [SECRET], store: new MemoryStore() });
  const { user_id, ...without } = fields();
  const body = "not JSON";
  for (const request of [
    byGet(without),
    byPost(without),
    byPost(fields({ status: "gone" })),
    { ...byPost(fields()), headers: headersOf(randomUUID(), body), body },
    { ...byPost(fields()), headers: headersOf("another", JSON.stringify(fields())), body: JSON.stringify(fields()) },
  ])
    await assert.rejects(callbacks.receive(request), InvalidCallback);
});

test("a server of Requests answers 200 or 401, and fails with its store", async () => {
  const callbacks = new Callbacks({ secrets: [SECRET], store: new MemoryStore() });
  const request = ({ url, headers, body }) =>
    new Request(`https://x.example${url}`, { headers, ...(body && { method: "POST", body }) });
  assert.equal((await callbacks.respond(request(byGet(fields())))).status, 200);
  assert.equal((await callbacks.respond(request(byPost(fields())))).status, 200);
  assert.equal((await callbacks.respond(request({ ...byPost(fields()), body: "{}" }))).status, 401);
  const broken = new Callbacks({ secrets: [SECRET], store: { add: () => Promise.reject(new Error("no database")) } });
  await assert.rejects(broken.respond(request(byGet(fields()))), { message: "no database" });
});
