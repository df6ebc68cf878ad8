// Rules of the console that need no browser: lists that are looked through, files of facts, and what is decided for an app.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./support/sources.mjs";

const { walk } = await importSource("pages/use-pages.ts");
const { linesOf, mediaTypeOf } = await importSource("console/views/publishers/facts-file.ts");
const { readTextFile, sizeText } = await importSource("console/text-file.ts");
const { changeOf, decidedOf, problemsOf, typedOf } = await importSource("console/views/publishers/decided.ts");

/** Pages of so many rows, of which those below 0 are not wanted. */
const list = (...pages) => {
  const asked = [];
  const load = async (cursor) => {
    asked.push(cursor);
    const index = cursor === null ? 0 : Number(cursor);
    return { rows: pages[index], cursor: index + 1 < pages.length ? String(index + 1) : null };
  };
  return { asked, load };
};
const isWanted = (row) => row >= 0;

test("a list goes on while a page is empty and has a cursor", async () => {
  const { asked, load } = list([-1], [-1], [-1], [-1], [-1], [-1], [7], [8]);
  const found = await walk(load, isWanted, null);
  assert.deepEqual(found, { rows: [7], cursor: "7", seen: 7 }, "after many pages one row is enough");
  assert.equal(asked.length, 7);
  assert.deepEqual(await walk(load, isWanted, "7"), { rows: [8], cursor: null, seen: 1 });
  assert.deepEqual(await walk(list([-1], [-1]).load, isWanted, null), { rows: [], cursor: null, seen: 2 });
});

test("a list without a wanted row stops after 20 pages, and goes on from there", async () => {
  const { asked, load } = list(...Array.from({ length: 25 }, () => [-1]));
  assert.deepEqual(await walk(load, isWanted, null), { rows: [], cursor: "20", seen: 20 });
  assert.equal(asked.length, 20);
});

test("a list stops when it has enough rows", async () => {
  const many = Array.from({ length: 30 }, (_, row) => row);
  const { asked, load } = list(many, many, many);
  const found = await walk(load, isWanted, null);
  assert.equal(found.rows.length, 60);
  assert.equal(found.cursor, "2");
  assert.equal(asked.length, 2);
});

test("a file of facts is CSV or NDJSON", () => {
  for (const [name, text, type] of [
    ["day.csv", "{", "text/csv"],
    ["DAY.CSV", "date", "text/csv"],
    ["day.ndjson", "", "application/x-ndjson"],
    ["day.jsonl", "x", "application/x-ndjson"],
    ["day.txt", ' {"date":"2026-11-03"}', "application/x-ndjson"],
    ["day", "date,app_id", "text/csv"],
  ]) {
    assert.equal(mediaTypeOf({ name, text }), type, name);
  }
  assert.deepEqual([0, 1023, 1024, 20_480, 64 * 2 ** 20].map(sizeText), ["0 bytes", "1023 bytes", "1.0 KiB", "20 KiB", "64 MiB"]);
});

test("a file is read as UTF-8, without a byte order mark", async () => {
  const file = await readTextFile(new File(["\uFEFFdate,app_id\n2026-11-03,1\n\n"], "day.csv"));
  assert.deepEqual([file.text.slice(0, 4), linesOf(file), mediaTypeOf(file)], ["date", 2, "text/csv"]);
  assert.equal(await readTextFile(new File([new Uint8Array([0x64, 0xe9])], "day.csv")), "notText");
  const large = Object.defineProperty(new File([], "day.csv"), "size", { value: 64 * 2 ** 20 + 1 });
  assert.equal(await readTextFile(large), "tooLarge");
});

const APP = { blocked_offers: ["1", "2"], callback_ports: [8443], max_rewards_per_user_day: 20 };

test("what is decided is read as it is typed", () => {
  const typed = { hosts: " A.example\nb.example, a.example\n", ports: "8443 9443,8443", rewards: " 5 ", blocked: "1\n\n2" };
  assert.deepEqual(decidedOf(typed), {
    fallback_hosts: ["a.example", "b.example"],
    callback_ports: [8443, 9443],
    max_rewards_per_user_day: 5,
    blocked_offers: ["1", "2"],
  });
  assert.deepEqual(problemsOf(typed), { ports: null, rewards: null });
  for (const ports of ["x", "70000", "-1", "1.5"]) assert.ok(problemsOf({ ...typed, ports }).ports, ports);
  for (const rewards of ["0", "1001", "1.5", "x"]) assert.ok(problemsOf({ ...typed, rewards }).rewards, rewards);
});

test("only what changed is written", () => {
  const typed = typedOf(APP);
  assert.deepEqual(changeOf(APP, typed), {});
  assert.deepEqual(changeOf(APP, { ...typed, blocked: " 1\n2\n" }), {}, "the same list");
  assert.deepEqual(changeOf(APP, { ...typed, rewards: "", hosts: "a.example" }), {
    fallback_hosts: ["a.example"],
    max_rewards_per_user_day: null,
  });
  assert.deepEqual(changeOf(APP, { ...typed, ports: "" }), { callback_ports: [] });
});
