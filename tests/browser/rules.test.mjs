// Rules of the page that need no browser: amounts as the service rounds them, macros as one types them, and the log's merge.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./support/signpost.mjs";
import { importSource } from "./support/sources.mjs";

const { convert, isRate } = await importSource("dashboard/views/apps/currency.ts");
const { COUNTRIES } = await importSource("shared/countries.ts");
const { amount, visibleText } = await importSource("shared/format.ts");
const { auditDetail, REPLAY_WORDS } = await importSource("shared/messages/audit.ts");
const { findingText } = await importSource("dashboard/messages/tester.ts");
const { findMacros, MACRO_NAMES } = await importSource("dashboard/views/apps/macros.ts");
const { DELIVERY_NAMES, STATE_NAMES } = await importSource("shared/messages/rewards.ts");
const { merge } = await importSource("dashboard/views/rewards/use-log.ts");
const { hashOf, NO_FILTER, parseFilter, queryOf, fixedConditions, replayOf, searchOf } = await importSource(
  "dashboard/views/rewards/filter.ts",
);

// The service's own cases: `in_app_amounts_follow_the_apps_decimals_and_rounding` in src/domain/model/money.rs.
test("an amount is rounded as the service rounds it", () => {
  for (const [payout, perUsd, decimals, rounding, value] of [
    ["1.2345", "1000", 0, "down", "1234"],
    ["1.2345", "1000", 0, "up", "1235"],
    ["1.2345", "1000", 0, "nearest", "1235"],
    ["1.2344", "1000", 0, "nearest", "1234"],
    ["0.75", "42.5", 2, "nearest", "31.88"],
    ["0.75", "42.5", 2, "down", "31.87"],
    ["0.8", "42.5", 2, "down", "34"],
    ["0", "1000", 0, "up", "0"],
    ["1.25", "100", 0, undefined, "125"],
    ["0.000001", "0.000001", 6, "up", "0.000001"],
    ["1000000", "1000000000", 0, "down", "1000000000000000"],
    ["1000000", "999999999.999999", 6, "down", "999999999999999"],
  ]) {
    assert.equal(convert(payout, { per_usd: perUsd, decimals, rounding }), value, `${payout} ${perUsd} ${rounding}`);
  }
});

test("a rate is above 0 and at most a billion with 6 decimals", () => {
  for (const rate of ["0.000001", "42.5", "1000000000", " 100 "]) assert.ok(isRate(rate), rate);
  for (const bad of ["", "0", "-1", "0.0000001", "1000000000.000001", "2000000000", "1e3", "1,5", "1."]) {
    assert.ok(!isRate(bad), bad);
  }
});

test("invisible signs of others' text are shown, and their letters stay", () => {
  for (const [text, shown] of [
    ["Søren's “Café” שלום, مرحبا 🎲", "Søren's “Café” שלום, مرحبا 🎲"],
    ["two\nlines\tand a tab", "two\nlines\tand a tab"],
    ["a\u202Eb\u2069c", "a[U+202E]b[U+2069]c"],
    ["\u0000\u001B[31m\u0085", "[U+0000][U+001B][31m[U+0085]"],
  ]) {
    assert.equal(visibleText(text), shown);
  }
});

test("macros are found as one types them", () => {
  const found = findMacros("https://x.example/%7Buser_id%7D?coins={value}&t={Transaction-ID}&u={usr_id}&x={nothing}&{");
  assert.deepEqual(found.used, ["user_id", "value"]);
  assert.deepEqual(found.unknown, [
    { name: "Transaction-ID", known: "transaction_id" },
    { name: "usr_id", known: "user_id" },
    { name: "nothing", known: null },
  ]);
  assert.ok(found.hasStrayBrace);
  assert.equal(MACRO_NAMES.length, 24);
});

const row = (id, at, state = "approved") => ({ app_id: "10000001", transaction_id: id, conversion_ts: at, state });
const page = (rows, more = {}) => ({ behind_ms: 0, rows, cursor: null, newest: "1", ...more });
const ids = ({ rows }) => rows.map(({ transaction_id }) => transaction_id);

test("what has changed takes its place in the log", () => {
  const shown = page([row("c", 30), row("b", 20), row("a", 10)], { cursor: "older" });
  const merged = merge(
    shown,
    page([row("d", 40), row("b", 20, "reversed"), row("z", 5)], { newest: "2", unmatched: ["a"] }),
  );
  assert.deepEqual(
    ids(merged),
    ["d", "c", "b"],
    "new on top, gone is gone, older than the page waits for its own page",
  );
  assert.equal(merged.rows[2].state, "reversed");
  assert.deepEqual([merged.cursor, merged.newest], ["older", "2"]);
  assert.deepEqual(ids(merge(page([]), page([row("a", 10)]))), ["a"]);
  const paidLate = page([row("c", 30), row("a", 45), row("b", 20)]);
  const later = merge(paidLate, page([row("b", 20, "reversed"), row("d", 50), row("e", 25)]));
  assert.deepEqual(ids(later), ["d", "c", "a", "e", "b"], "rows in sight keep the server's order");
});

test("a filter is the same after it went through the address, and ids stand in the fragment alone", () => {
  const filter = {
    app: "10000001",
    state: "held",
    delivery: "dead",
    status: "503",
    from: "2026-11-01",
    to: "2026-11-02",
    transaction: "0b8f2e8a-31f4",
    user: "player 1&x",
  };
  assert.deepEqual(parseFilter(searchOf(filter), hashOf(filter)), filter);
  assert.ok(!searchOf(filter).includes("player") && !searchOf(filter).includes("0b8f2e8a"));
  const query = queryOf(filter).filter;
  assert.equal(query.until - query.from, 2 * 86_400, "both days are included");
  assert.equal(query.http_status, 503);
  assert.equal(queryOf({ ...filter, app: "" }).filter.user_id, undefined, "a user is one of an app");
  const odd = parseFilter("?app=1&state=paid&status=99&from=2026-13-01", "#transaction=");
  assert.deepEqual(queryOf(odd), { filter: {} });
});

test("an amount has thousands separators and all of its decimals", () => {
  for (const [value, text] of [
    [56150, "56,150"],
    ["1234567.891", "1,234,567.891"],
    [-0.75, "-0.75"],
    [0.000001, "0.000001"],
    ["75.00", "75"],
    [1000000000000000, "1,000,000,000,000,000"],
  ]) {
    assert.equal(amount(value), text);
  }
});

test("a replay takes every filter of the log, at most until now, and says those that its dialog does not let choose", () => {
  const [from, to] = [Date.UTC(2026, 10, 1) / 1000, Date.UTC(2026, 10, 3) / 1000];
  const filter = { ...NO_FILTER, app: "10000001", delivery: "dead", from: "2026-11-01", to: "2026-11-02" };
  assert.deepEqual(replayOf(filter, to + 1), { delivery: "dead", from, until: to });
  assert.deepEqual(replayOf(filter, to - 1), { delivery: "dead", from });
  assert.deepEqual(replayOf({ ...NO_FILTER, app: "10000001" }, to), {});
  assert.equal(fixedConditions(filter), "");
  const all = { ...filter, state: "held", status: "503", transaction: "0b8f2e8a", user: "player-1" };
  assert.deepEqual(replayOf(all, to + 1), queryOf(all).filter);
  assert.equal(
    fixedConditions(all),
    "State Held for review, HTTP status 503, Transaction id 0b8f2e8a, User id player-1",
  );
});

test("the audit log has the filter of a replay in words", () => {
  const from = Date.UTC(2026, 10, 1) / 1000;
  const detail = (text) => auditDetail("rewards_replayed", text);
  const until = "until 2 Nov 2026, 00:00 UTC";
  const seconds = `until ${from + 86_400}`;
  assert.equal(
    detail(`delivery delivered, from ${from}, ${seconds}`),
    `Delivered: conversions from 1 Nov 2026, 00:00 UTC ${until}`,
  );
  assert.equal(detail(`delivery dead, ${seconds}`), `Given up: conversions ${until}`);
  assert.equal(detail(seconds), `All: conversions ${until}`);
  const odd = "a, until 5, transaction b";
  assert.equal(
    detail(`delivery not_wanted, state held, http_status 503, user, ${seconds}, transaction ${odd}`),
    `Not asked for, state Held for review, HTTP 503, one user, transaction ${odd}: conversions ${until}`,
  );
  assert.equal(detail("something newer"), "something newer");
  assert.deepEqual(REPLAY_WORDS, { ...DELIVERY_NAMES, ...STATE_NAMES });
  assert.equal(detail(null), null);
  assert.equal(auditDetail("callback_tested", "wrong"), "with a wrong signature");
});

const rust = (path) => readFile(join(ROOT, "src/domain", path), "utf8");

test("the macros are those of the service", async () => {
  const table = (await rust("callbacks/fields.rs")).split("pub const TABLE")[1].split("\n];")[0];
  const fields = [...table.matchAll(/\("([a-z0-9_]+)", \|fields\|/g)].map((match) => match[1]);
  assert.equal(fields.length, 23);
  assert.deepEqual(MACRO_NAMES, [...fields, "ts"]);
});

test("the countries are those of the service", async () => {
  const codes = /CODES: &\[u8\] = b"([A-Z\\\s]+)"/.exec(await rust("model/country.rs"))[1].replace(/[^A-Z]/g, "");
  assert.deepEqual([...COUNTRIES].sort(), codes.match(/../g).sort());
});

test("every finding of a test has words", async () => {
  const source = await rust("callbacks/diagnosis.rs");
  const codes = [...source.matchAll(/(?:problem|advice|ok)\("([a-z_]+)"\)|=> "([a-z_]+)",/g)].map(
    (match) => match[1] ?? match[2],
  );
  assert.ok(codes.length > 25, "the codes are found");
  for (const code of codes) {
    const text = findingText({ code, severity: "problem", subject: "x" });
    assert.ok(!text.startsWith(code.replaceAll("_", " ")), code);
  }
});
