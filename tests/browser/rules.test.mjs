// Rules of the page that need no browser: amounts as the service rounds them, macros as one types them, and the log's merge.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./support/signpost.mjs";
import { importSource } from "./support/sources.mjs";

const { convert, isRate } = await importSource("dashboard/views/apps/currency.ts");
const { COUNTRIES } = await importSource("shared/countries.ts");
const { addDays, amount, daysIn, visibleText } = await importSource("shared/format.ts");
const { byChange, comparer } = await importSource("dashboard/views/reports/comparer.ts");
const { firstBatch } = await importSource("dashboard/views/reports/queries.ts");
const { parseState } = await importSource("dashboard/views/reports/state.ts");
const { auditDetail, REPLAY_WORDS } = await importSource("shared/messages/audit.ts");
const { findingText } = await importSource("dashboard/messages/tester.ts");
const { findMacros, MACRO_NAMES } = await importSource("dashboard/views/apps/macros.ts");
const { DELIVERY_NAMES, STATE_NAMES } = await importSource("shared/messages/rewards.ts");
const { comparison, PRESETS, presetRange } = await importSource("dashboard/views/reports/periods.ts");
const { merge } = await importSource("dashboard/views/rewards/merge.ts");
const { hashOf, NO_FILTER, parseFilter, queryOf, fixedConditions, replayOf, searchOf } = await importSource(
  "dashboard/views/rewards/filter.ts",
);

/** Numbers from 0 to 1 that a seed decides. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

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

test("macros are found while they are typed", () => {
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

test("a changed reward takes its place in the log", () => {
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
  assert.equal(queryOf({ ...filter, app: "" }).filter.user_id, filter.user, "a user is found over all apps");
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
    "State Held for review, HTTP status 503, Transaction ID 0b8f2e8a, User ID player-1",
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
    `Event not chosen, state Held for review, HTTP 503, one user, transaction ${odd}: conversions ${until}`,
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

// Any range, any day through which there is data, each preset, and leap years.
test("a period is compared with as many complete days on the same weekdays", () => {
  const first = Date.UTC(2023, 11, 1) / 86_400_000;
  const date = (day) => new Date(day * 86_400_000).toISOString().slice(0, 10);
  const number = (text) => Date.parse(text) / 86_400_000;
  let compared = 0;
  for (let day = first; day < first + 2 * 366; day += 1) {
    for (const late of [0, 1, 2, 9, 40]) {
      const days = { today: date(day), last: date(day - late) };
      const lengths = [1, 2, 6, 7, 8, 30, 31, 90].map((length) => ({
        start_date: date(day + 1 - length),
        end_date: date(day),
      }));
      for (const range of [...PRESETS.map((preset) => presetRange(preset, days)), ...lengths]) {
        const found = comparison(range, days);
        if (range.start_date > days.last) {
          assert.equal(found, null);
          continue;
        }
        const [start, end] = [range.start_date, range.end_date].map(number);
        const [nowStart, nowEnd] = [found.now.start_date, found.now.end_date].map(number);
        const [beforeStart, beforeEnd] = [found.before.start_date, found.before.end_date].map(number);
        const message = JSON.stringify({ range, days, found });
        assert.equal(nowStart, start, message);
        assert.equal(nowEnd, Math.min(end, day - late), message);
        assert.equal(found.leavesOutDays, end > day - late, message);
        assert.equal(beforeEnd - beforeStart, nowEnd - nowStart, message);
        assert.equal(nowStart - beforeStart, found.days, message);
        assert.equal(found.days % 7, 0, message);
        // The whole range goes back as far as it must.
        assert.ok(found.days >= end - start + 1 && found.days < end - start + 8, message);
        compared += 1;
      }
    }
  }
  assert.ok(compared > 10_000);
  const week = (preset) => presetRange(preset, { today: "2026-11-29", last: "2026-11-27" });
  assert.deepEqual(week("this_week"), { start_date: "2026-11-23", end_date: "2026-11-29" });
  assert.deepEqual(week("last_week"), { start_date: "2026-11-16", end_date: "2026-11-22" });
});

test("a date is read as the pages show it and in ISO's form, and nothing else is guessed", async () => {
  const { dateText, dateWithWeekday, readDate } = await importSource("shared/format.ts");
  for (let month = 1; month <= 12; month += 1) {
    const date = `2024-${String(month).padStart(2, "0")}-09`;
    for (const text of [date, dateText(date), dateWithWeekday(date)]) assert.equal(readDate(` ${text} `), date);
  }
  assert.equal(readDate("29 february 2024"), "2024-02-29");
  for (const text of ["", "25.11.2026", "11/25/2026", "29 Feb 2026", "9 Foo 2026", "25 Nov"]) {
    assert.equal(readDate(text), text);
  }
});

test("a time is read as it is shown, and as people type it", async () => {
  const { readTime, typedTime } = await importSource("shared/format.ts");
  const random = generator(7);
  for (let n = 0; n < 2_000; n += 1) {
    const at = Math.floor(random() * 4_000_000_000);
    assert.equal(readTime(typedTime(at)), at);
    assert.equal(readTime(new Date(at * 1000).toISOString().replace(".000", "")), at);
  }
  const at = Date.UTC(2026, 10, 5, 9, 30) / 1000;
  for (const text of ["5 Nov 2026, 9:30", "5 november 2026 09:30 UTC", "2026-11-05T09:30:00", " 2026-11-05 9:30Z "]) {
    assert.equal(readTime(text), at, text);
  }
  assert.equal(readTime("5 Nov 2026"), at - 9.5 * 3600);
  for (const text of ["", "soon", "9:30", "5 Nov 2026, 25:00", "31 Feb 2026, 9:30", "5 Nov 2026, 9:3", "5 Nov, 9:30"]) {
    assert.equal(readTime(text), undefined, text);
  }
  for (const text of ["1 Dec", "2026", "2026-11", "2026-02-30", "2026-04-31 10:00"]) {
    assert.equal(readTime(text), undefined, text);
  }
});

test("rows are sorted by change over both periods, as a plain list of their sums is", () => {
  const random = generator(20_261_129);
  const pick = (most) => Math.floor(random() * most);
  for (let round = 0; round < 300; round += 1) {
    const dimensions = [["date"], ["country"], ["date", "country"]][pick(3)];
    const days = { today: "2026-11-29", last: addDays("2026-11-28", -pick(3)) };
    const state = parseState(
      `?range=2026-11-20_2026-11-28&by=${dimensions}&compare=1&by_change=1&sort=${["", "-"][pick(2)]}clicks`,
    );
    const first = firstBatch(state, days);
    const { now, before, days: back } = first.compared;
    const rowsIn = ({ start_date, end_date }) => {
      const rows = new Map();
      for (let count = pick(12); count > 0; count -= 1) {
        const date = addDays(start_date, pick(daysIn(start_date, end_date)));
        const row = { date, country: ["DE", "JP", "BR", "ZZ"][pick(4)], clicks: pick(50), revenue: 0, impressions: 0 };
        const own = Object.fromEntries(
          Object.entries(row).filter(([name]) => dimensions.includes(name) || !["date", "country"].includes(name)),
        );
        rows.set(dimensions.map((name) => own[name]).join(), own);
      }
      return [...rows.values()];
    };
    const answer = (rows) => ({ rows, total_count: rows.length, totals: {} });
    const isByDate = dimensions.includes("date");
    const [table, rowsNow, rowsBefore] = [rowsIn(state.range), rowsIn(now), rowsIn(before)];
    const report = { first, table: answer(table), rowsNow: answer(rowsNow), rowsBefore: answer(rowsBefore) };
    const compare = comparer(state, report);
    const found = byChange(state, report.table, compare);

    // A naive list: each row's clicks in both periods.
    const keyOf = (row, shift) =>
      dimensions.map((name) => (name === "date" ? addDays(row.date, shift) : row[name])).join();
    const counted = first.compared.leavesOutDays && !isByDate ? rowsNow : table;
    const sums = new Map(table.map((row) => [keyOf(row, 0), { now: 0, was: 0 }]));
    const sum = (key) => sums.get(key) ?? sums.set(key, { now: 0, was: 0 }).get(key);
    for (const row of rowsBefore) sum(keyOf(row, back)).was = row.clicks;
    for (const row of counted) if (sums.has(keyOf(row, 0))) sum(keyOf(row, 0)).now = row.clicks;
    const changeOf = (row) => {
      const { now: value, was } = sums.get(keyOf(row, 0));
      return isByDate && row.date > now.end_date ? null : value - was;
    };
    assert.deepEqual(new Set(found.map((row) => keyOf(row, 0))), new Set(sums.keys()));
    const changes = found.map(changeOf);
    const known = changes.filter((change) => change !== null);
    assert.deepEqual(changes.slice(0, known.length), known, "those without a counterpart are last");
    assert.deepEqual(
      known,
      known.toSorted((one, other) => (state.order.ascending ? one - other : other - one)),
    );
    for (const row of found) {
      const pair = compare.row(row, "clicks");
      assert.equal(pair && pair.now - pair.was, changeOf(row));
    }
  }
});
