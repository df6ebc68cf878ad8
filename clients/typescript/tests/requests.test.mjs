// The client against a server that is slow, refuses, cuts bodies and changes between pages.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  ConnectionFailed,
  ConversionRefused,
  Conversions,
  DataChanged,
  Forbidden,
  InvalidAnswer,
  InvalidRequest,
  Offers,
  RateLimited,
  Reports,
  Rewards,
  ServerError,
  Timeout,
  Unauthorized,
  Unavailable,
} from "@signpost/client";
import { startFaulty } from "../../../tests/clients/faulty.mjs";

const QUERY = {
  date_range: { start_date: "2026-11-01", end_date: "2026-11-02" },
  dimensions: ["app"],
  metrics: ["revenue"],
};
const TAKEN = { transaction_id: "0004b572-b3fb-89e8-9a48-bf1b6076df40", status: "approved", duplicate: false };

let faulty;
before(async () => {
  faulty = await startFaulty();
});
after(() => faulty.stop());

const options = (more) => ({ url: faulty.url, timeout: 1, retries: 2, backoff: 0.01, ...more });
const reports = (more) => new Reports({ apiKey: "sk", ...options(more) });
const rewards = (more) => new Rewards({ apiKey: "sk", ...options(more) });
const offers = (more) => new Offers({ appId: "10000001", pubKey: "PUB", ...options(more) });
const conversions = (more) => new Conversions({ token: "at_1", ...options(more) });

/** Fails unless the call throws this class; returns the error. */
async function fails(call, type) {
  const error = await call.then(
    () => assert.fail(`no ${type.name}`),
    (thrown) => thrown,
  );
  assert.ok(error instanceof type, `${type.name}: ${error}`);
  assert.equal(error.name, type.name);
  return error;
}

const refusal = (status, code, headers = {}) => ({ status, headers, body: { error: `because of ${code}`, code } });
const page = (rows, number, total, etag = '"1"') => ({
  headers: { "X-Total-Count": total, "X-Page": number, "X-Page-Size": 1, ETag: etag, "X-Final-Through": "2026-11-01" },
  body: { rows },
});
const listing = (offers, total, builtAt, headers = {}) => ({
  headers: { "Last-Modified": builtAt, "Cache-Control": "private, max-age=120", ETag: '"a"', ...headers },
  body: { offers, total },
});

test("each status has its class, with code, message and request id", async () => {
  for (const [status, type] of [
    [301, InvalidRequest],
    [400, InvalidRequest],
    [401, Unauthorized],
    [403, Forbidden],
    [404, InvalidRequest],
    [409, ConversionRefused],
    [410, ConversionRefused],
    [412, DataChanged],
    [413, InvalidRequest],
    [500, ServerError],
  ]) {
    faulty.play(refusal(status, "some_code", { "CF-Ray": "8f1-FRA", Location: "/elsewhere" }));
    const error = await fails(reports().page(QUERY), type);
    assert.equal(error.status, status);
    assert.equal(error.code, "some_code");
    assert.equal(error.message, "because of some_code");
    assert.equal(error.requestId, "8f1-FRA");
    assert.equal(faulty.calls.length, 1, `${status} was repeated`);
  }
});

test("an error of a proxy, which is no JSON, has a code by its status", async () => {
  faulty.play({ status: 521, body: "<html>" });
  assert.equal((await fails(reports().page(QUERY), Unavailable)).code, "http_521");
});

test("429 waits for Retry-After, and then the answer is read", async () => {
  faulty.play(refusal(429, "rate_limit_exceeded", { "Retry-After": "1" }), page([{ revenue: 1.5 }], 1, 1));
  const read = await reports().page(QUERY);
  assert.deepEqual(read.rows, [{ revenue: 1.5 }]);
  assert.equal(read.finalThrough, "2026-11-01");
  const [first, second] = faulty.calls;
  assert.ok(second.at - first.at >= 0.99, `${second.at - first.at} s`);
});

test("429 without an end is RateLimited, and so is a wait that is too long", async () => {
  faulty.play(refusal(429, "rate_limit_exceeded", { "Retry-After": "0" }));
  await fails(reports().page(QUERY), RateLimited);
  assert.equal(faulty.calls.length, 3);
  faulty.play(refusal(429, "rate_limit_exceeded", { "Retry-After": "3600" }));
  assert.equal((await fails(reports().page(QUERY), RateLimited)).retryAfter, 3600);
  assert.equal(faulty.calls.length, 1);
});

test("a Retry-After may be a date", async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  faulty.play(refusal(503, "unavailable", { "Retry-After": date }));
  const { retryAfter } = await fails(reports().page(QUERY), Unavailable);
  assert.ok(retryAfter > 3590 && retryAfter <= 3600, `${retryAfter}`);
});

test("503 is repeated with a growing wait, also of a conversion", async () => {
  faulty.play(refusal(503, "unavailable"), refusal(503, "unavailable"), { body: TAKEN });
  assert.deepEqual(await conversions({ backoff: 0.2 }).report({ clickId: "click", goal: null }), TAKEN);
  const [first, second, third] = faulty.calls;
  assert.ok(second.at - first.at >= 0.1 && third.at - second.at >= 0.2);
  assert.deepEqual(
    faulty.calls.map(({ method, url, body }) => [method, url, body]),
    Array(3).fill(["POST", "/v2/tracking/conversion", "token=at_1&click_id=click"]),
  );
  faulty.play(refusal(503, "unavailable", { "Retry-After": "0" }));
  await fails(conversions().report({ clickId: "click" }), Unavailable);
  assert.equal(faulty.calls.length, 3);
});

test("a slow server is a Timeout, before its answer and within it", async () => {
  faulty.play({ delay: 4 });
  assert.equal((await fails(rewards().page(), Timeout)).code, "timeout");
  assert.equal(faulty.calls.length, 3);
  faulty.play({ body: { rewards: [], cursor: "1", has_more: false }, drip: 0.1 });
  await fails(rewards({ retries: 0 }).page(), Timeout);
});

test("a slow answer is followed by a fast one", async () => {
  faulty.play({ delay: 4 }, { body: { rewards: [], cursor: "1", has_more: false } });
  assert.equal((await rewards().page()).cursor, "1");
});

test("a cut body and a broken connection are repeated, and then ConnectionFailed", async () => {
  const whole = { body: { rewards: [], cursor: "2", has_more: false } };
  faulty.play({ ...whole, cut: 12 }, { reset: true }, whole);
  assert.equal((await rewards().page()).cursor, "2");
  for (const chunked of [false, true]) {
    faulty.play({ ...whole, cut: 12, chunked });
    assert.equal((await fails(rewards().page(), ConnectionFailed)).status, undefined);
    assert.equal(faulty.calls.length, 3);
  }
  await fails(rewards({ url: "http://127.0.0.1:9" }).page(), ConnectionFailed);
});

test("a body that was cut before a proxy counted it is InvalidAnswer", async () => {
  for (const body of ['{"rewards":[', "", "<html>welcome</html>"]) {
    faulty.play({ body });
    await fails(rewards().page(), InvalidAnswer);
    assert.equal(faulty.calls.length, 3);
  }
});

test("a caller ends a call that waits", async () => {
  faulty.play({ delay: 5 });
  await assert.rejects(rewards({ timeout: 30 }).page({}, { signal: AbortSignal.timeout(50) }), {
    name: "TimeoutError",
  });
  faulty.play(refusal(429, "rate_limit_exceeded", { "Retry-After": "30" }));
  await assert.rejects(rewards().page({}, { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
});

test("a report without a fact has no rows", async () => {
  faulty.play({ status: 204, headers: { "X-Total-Count": 0, "X-Page": 1, "X-Page-Size": 10000, ETag: '"1"' } });
  assert.deepEqual(await reports().all(QUERY), []);
  assert.equal(faulty.calls.length, 1);
});

test("pages of a report are of one version", async () => {
  faulty.play(page([{ app_id: "1" }], 1, 2), page([{ app_id: "2" }], 2, 2));
  assert.deepEqual(await reports().all(QUERY), [{ app_id: "1" }, { app_id: "2" }]);
  assert.deepEqual(
    faulty.calls.map(({ headers, body }) => [headers["if-match"], JSON.parse(body).pagination]),
    [
      [undefined, { page: 1 }],
      ['"1"', { page: 2 }],
    ],
  );
});

test("facts that change between pages begin a report again; an iterator throws DataChanged", async () => {
  const changing = [page([{ app_id: "1" }], 1, 2), refusal(412, "data_changed")];
  faulty.play(...changing, page([{ app_id: "1b" }], 1, 2, '"2"'), page([{ app_id: "2b" }], 2, 2, '"2"'));
  assert.deepEqual(await reports().all(QUERY), [{ app_id: "1b" }, { app_id: "2b" }]);
  assert.equal(faulty.calls.at(-1).headers["if-match"], '"2"');

  faulty.play(...changing);
  const rows = [];
  const iterated = (async () => {
    for await (const row of reports().rows(QUERY)) rows.push(row);
  })();
  assert.equal((await fails(iterated, DataChanged)).code, "data_changed");
  assert.deepEqual(rows, [{ app_id: "1" }]);

  faulty.play(...changing, ...changing, ...changing, ...changing);
  await fails(reports().all(QUERY), DataChanged);
  assert.equal(faulty.calls.length, 8);
});

test("a feed is read by its cursor until there is no more", async () => {
  faulty.play(
    { body: { rewards: [1], cursor: "5", has_more: true } },
    { body: { rewards: [2], cursor: "7", has_more: false } },
  );
  const cursors = [];
  for await (const each of rewards().pages({ after: "3", app: "10000001" })) cursors.push(each.cursor);
  assert.deepEqual(cursors, ["5", "7"]);
  assert.deepEqual(
    faulty.calls.map((call) => call.url),
    ["3", "5"].map((after) => `/v1/core/rewards?limit=1000&after=${after}&app=10000001`),
  );
  faulty.play({ body: { changes: [], cursor: "1", has_more: false, final_through: null } });
  for await (const each of reports().changePages()) assert.equal(each.final_through, null);
  assert.match(faulty.calls[0].url, /\/report\/changes\?limit=1000$/);
});

test("an unchanged page of offers is not sent again", async () => {
  faulty.play(listing([{ id: "1" }], 1, "Sun, 01 Nov 2026 00:00:00 GMT"), { status: 304, headers: { ETag: '"a"' } });
  const first = await offers().page({ page: 1, size: 10 });
  assert.deepEqual([first.maxAge, first.etag, first.isUnchanged], [120, '"a"', false]);
  const second = await offers().page({ page: 1, size: 10 }, { previous: first });
  assert.deepEqual([second.offers, second.total, second.isUnchanged], [first.offers, 1, true]);
  assert.equal(faulty.calls[1].headers["if-none-match"], '"a"');
  assert.equal(faulty.calls[1].headers["pub-key"], "PUB");
});

test("offers are of one listing, or are read again, or DataChanged", async () => {
  const [old, recent] = ["Sun, 01 Nov 2026 00:00:00 GMT", "Sun, 01 Nov 2026 00:05:00 GMT"];
  faulty.play(
    ...[listing([{ id: "1" }], 2, old), listing([{ id: "3" }], 2, recent)],
    ...[listing([{ id: "2" }], 2, recent), listing([{ id: "3" }], 2, recent)],
  );
  assert.deepEqual(await offers().all(), [{ id: "2" }, { id: "3" }]);
  faulty.play(...Array.from({ length: 8 }, (_, index) => listing([{ id: "1" }], 2, index % 2 ? old : recent)));
  await fails(offers().all(), DataChanged);
});

test("filters that are too long for a URL go into a body", async () => {
  faulty.play(listing([], 0, "Sun, 01 Nov 2026 00:00:00 GMT"));
  const value = Array.from({ length: 1000 }, (_, index) => `offer-${index}`);
  const filters = [{ dim: "offer_id", match: { type: "any", value } }];
  await offers().all(filters);
  const [{ method, body }] = faulty.calls;
  assert.equal(method, "POST");
  assert.deepEqual(JSON.parse(body), { page: 1, size: 1000, filt: filters });
});
