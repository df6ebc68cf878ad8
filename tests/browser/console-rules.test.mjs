// Rules of the console that need no browser: files of facts, what is decided for an app, the
// words of the audit, and credentials among what is pasted.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./support/signpost.mjs";
import { importSource } from "./support/sources.mjs";

const { isCredential } = await importSource("console/ids.ts");
const { operatorAction, operatorDetail } = await importSource("console/messages/audit.ts");
const { linesOf, mediaTypeOf } = await importSource("console/views/publishers/facts-file.ts");
const { merge, named } = await importSource("shared/use-merged.ts");
const { clashWords } = await importSource("console/views/offers/changes.ts");
const { draftOf, treeOf } = await importSource("console/views/offers/draft.ts");
const { sizeText } = await importSource("shared/format.ts");
const { readTextFile } = await importSource("console/text-file.ts");
const { isComplete, NO_EDIT, percentOf, plan } = await importSource("console/views/offers/edit-many.ts");
const { changeOf, decidedOf, problemsOf, typedOf } = await importSource("console/views/publishers/decided.ts");

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
});

test("a size has the unit that is easiest to read", () => {
  const sizes = [0, 999, 1000, 20_480, 64 * 2 ** 20, 8.5e9];
  assert.deepEqual(sizes.map(sizeText), ["0 bytes", "999 bytes", "1.0 kB", "20.5 kB", "67.1 MB", "8.50 GB"]);
});

test("a file is read as UTF-8, without a byte order mark", async () => {
  const file = await readTextFile(new File(["\uFEFFdate,app_id\n2026-11-03,1\n\n"], "day.csv"));
  assert.deepEqual([file.text.slice(0, 4), linesOf(file), mediaTypeOf(file)], ["date", 2, "text/csv"]);
  assert.equal(await readTextFile(new File([new Uint8Array([0x64, 0xe9])], "day.csv")), "notText");
  const large = Object.defineProperty(new File([], "day.csv"), "size", { value: 64 * 2 ** 20 + 1 });
  assert.equal(await readTextFile(large), "tooLarge");
});

const APP = { blocked_offers: ["1", "2"], callback_ports: [8443], max_rewards_per_user_day: 20 };

test("a decision is read as it is typed", () => {
  const typed = {
    hosts: " A.example\nb.example, a.example\n",
    ports: "8443 9443,8443",
    rewards: " 5 ",
    blocked: "1\n\n2",
  };
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

const detailOf = (action, detail) => operatorDetail({ action, detail });

test("the audit has what was done to rewards in words", () => {
  assert.equal(detailOf("reward_approved", "it is fine"), "“it is fine”");
  assert.equal(
    detailOf("reward_approved", "it is (really) fine (despite too_fast, conversion_capped)"),
    "“it is (really) fine”, despite: The conversion came sooner after the click than a person could manage. The offer had reached its conversion cap for the day.",
  );
  const from = "2026-11-01T00:00:00Z";
  const until = "2026-11-02T00:00:00.000Z";
  for (const [detail, words] of [
    ["3 of 4 with status held: why", "3 of 4 that were held for review: “why”"],
    [
      `1 of 1 with status approved, until ${until}: a: b`,
      "1 of 1 that were approved, until 2 Nov 2026, 00:00 UTC: “a: b”",
    ],
    [
      `1200 of 4000 with status refused, reason conversion_capped, of one user, offer o-1, from ${from}, until ${until}: why (despite too_fast)`,
      "1,200 of 4,000 that were refused, with the reason “The offer had reached its conversion cap for the day”, of one user, of offer o-1, " +
        "from 1 Nov 2026, 00:00 UTC, until 2 Nov 2026, 00:00 UTC: “why”, despite: The conversion came sooner after the click than a person could manage.",
    ],
    ["something newer", "something newer"],
  ]) {
    assert.equal(detailOf("rewards_rejected", detail), words);
  }
  assert.equal(detailOf("rewards_replayed", "17 sent again"), "17 sent again");
  assert.equal(
    detailOf("rewards_replayed", "delivery dead, until 1793577600"),
    "Given up: conversions until 2 Nov 2026, 00:00 UTC",
  );
  assert.equal(detailOf("rewards_replayed", null), null);
});

test("the audit has names, roles and amounts in words", () => {
  assert.equal(detailOf("publisher_invited", "owner, Ana, owner"), "owner, Ana, Owner");
  assert.equal(detailOf("member_invited", "support"), "Support");
  assert.equal(detailOf("role_changed", "support to admin"), "Support to Admin");
  assert.equal(detailOf("report_key_created", "a, b, 3f2a"), "“a, b”, key 3f2a");
  assert.equal(detailOf("facts_added", "12000 rows"), "12,000 rows");
  assert.equal(detailOf("facts_added", "1 rows"), "1 row");
  assert.equal(detailOf("imported", "12 lines"), "12 lines");
  assert.equal(detailOf("offer_put", ""), "no change");
  assert.equal(operatorAction({ action: "offer_put", detail: "created" }), "Created an offer");
  assert.equal(operatorAction({ action: "offer_put", detail: "name" }), "Changed an offer");
  assert.equal(operatorAction({ action: "something_newer", detail: null }), "something_newer");
});

test("each member of a document has a name in the audit", async () => {
  for (const [name, type] of [
    ["publisher", "Publisher"],
    ["app", "App"],
    ["advertiser", "Advertiser"],
    ["offer", "Offer"],
  ]) {
    const source = await readFile(join(ROOT, `src/domain/catalog/${name}.rs`), "utf8");
    const struct = source.split(`pub struct ${type} {`)[1].split("\n}")[0];
    const members = [...struct.matchAll(/^ {4}pub (\w+):/gm)].map(([, member]) => member);
    assert.ok(members.length > 0, name);
    for (const member of members) assert.notEqual(detailOf(`${name}_put`, member), member, `${name}: ${member}`);
  }
});

test("a credential is known by its form", () => {
  for (const text of [
    "sk_lumen-arcade_0123456789abcdef",
    "sk_lumen",
    "X-Api-Key: sk_lumen-arcade_01",
    "at_panels_3_0123456789abcdef_x",
    "https://example.com/v2/tracking/conversion?click_id=x&token=at_panels_3_0",
    "inv_p_lumen",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "0123456789ABCDEF0123456789ABCDEF",
    "Pub-Key: 0123456789abcdef0123456789abcdef",
  ]) {
    assert.ok(isCredential(text), text);
  }
  for (const text of [
    "10000001",
    "lumen-arcade",
    "player_at_home",
    "02b8f2e8-31f4-4c1e-9d42-8a7c5d1e0f33",
    "0123456789ABCDEF0123456789ABCDEF0",
    "ask_me",
  ]) {
    assert.ok(!isCredential(text), text);
  }
});

const kept = (goals, more = {}) => ({
  offer_id: "o-1",
  advertiser_id: "a",
  off_type: "CPE",
  s_id: "com.example",
  name: "Kite",
  lp_url: "https://play.example/kite",
  ic_url: "https://cdn.example/kite.png",
  desc: "",
  ctg: ["GAMING"],
  os: "android",
  geo_tgt: { include: [], exclude: [] },
  goals: goals.map((payout_usd, ord) => ({ id: `g-${ord}`, ttl: "A goal", instr: "", payout_usd, ord, gl_val: null })),
  active: true,
  terms_revision: 7,
  updated_at: 1,
  ...more,
});

test("a percentage has at most two decimals and takes no payout below 0", () => {
  const percents = { 10: 1000n, "+2.5": 250n, "-100": -10_000n, "-0.01": -1n, " 7 ": 700n };
  for (const [text, percent] of Object.entries(percents)) assert.equal(percentOf(text), percent, text);
  for (const text of ["", "-100.01", "ten", "1.234", "10%", "1e2", "--1", "12345"])
    assert.equal(percentOf(text), null, text);
});

test("payouts change by percent to the nearest millionth", () => {
  for (const [payout, percent, changed] of [
    [4, "25", 5],
    [0.35, "-10", 0.315],
    [1.000001, "50", 1.500002],
    [0.000001, "-50", 0.000001],
    [99.999999, "-100", 0],
    [1_000_000, "0", 1_000_000],
  ]) {
    const { document, problems } = plan(kept([payout, 2]), { ...NO_EDIT, payout: percent }, 0);
    assert.equal(document.goals[0].payout_usd, changed, `${payout} ${percent}`);
    assert.deepEqual(problems, []);
  }
  const { problems } = plan(kept([600_000]), { ...NO_EDIT, payout: "100" }, 0);
  assert.equal(problems.length, 1, "a payout has a limit");
});

test("a change of many sets and empties what it names, and leaves the rest", () => {
  const offer = kept([4], { click_cap: { dur: "DAILY", lim: 5 }, conversion_window_days: 7, ends_at: 1_800_000_000 });
  const edit = {
    ...NO_EDIT,
    active: "off",
    doing: { ...NO_EDIT.doing, click_cap: "remove", conversion_cap: "set", starts_at: "set" },
    typed: { ...NO_EDIT.typed, conversion_cap: " 70 ", starts_at: "1 Nov 2026" },
  };
  const { document, changes, hasNewTerms, problems } = plan(offer, edit, 0);
  const { offer_id, terms_revision, updated_at, click_cap, ...rest } = offer;
  assert.deepEqual(document, {
    ...rest,
    active: false,
    conversion_cap: { dur: "DAILY", lim: 70 },
    starts_at: Date.UTC(2026, 10, 1) / 1000,
  });
  assert.deepEqual([changes.length, hasNewTerms, problems], [4, false, []]);
  const again = plan({ ...document, offer_id, terms_revision, updated_at }, edit, 0);
  assert.deepEqual(again.changes, [], "a second time nothing changes");
  const early = plan(offer, { ...edit, typed: { ...edit.typed, starts_at: "1 Nov 2027, 00:00" } }, 0);
  assert.equal(early.problems.length, 1, "it ends before it starts");
  assert.deepEqual(
    [isComplete(NO_EDIT), isComplete(edit), isComplete({ ...edit, typed: { ...edit.typed, conversion_cap: "" } })],
    [false, true, false],
  );
});

test("changes of one of two people are taken, and changes of both are a clash", () => {
  const base = {
    name: "A",
    cap: "5",
    goals: { "goal a": { ttl: "One", usd: "1" }, "goal b": { ttl: "Two", usd: "2" } },
  };
  const { "goal a": a, "goal b": b } = base.goals;
  const met = (theirs, mine) => {
    const clashes = [];
    const merged = merge(base, { ...base, ...theirs }, { ...base, ...mine }, clashes);
    return { merged, clashes: clashes.map(({ path }) => path.join(".")) };
  };
  assert.deepEqual(met({ cap: "9" }, { name: "B" }), { merged: { ...base, cap: "9", name: "B" }, clashes: [] });
  assert.deepEqual(met({ name: "B" }, { name: "B" }), { merged: { ...base, name: "B" }, clashes: [] }, "the same");
  assert.deepEqual(met({ name: "C" }, { name: "B" }), { merged: { ...base, name: "B" }, clashes: ["name"] });
  const mine = { goals: { "goal a": { ...a, ttl: "Mine" }, "goal b": b } };
  const paid = met({ goals: { "goal b": b, "goal a": { ...a, usd: "3" } } }, mine);
  assert.deepEqual(paid.clashes, []);
  assert.deepEqual(
    Object.entries(paid.merged.goals),
    [
      ["goal b", b],
      ["goal a", { ttl: "Mine", usd: "3" }],
    ],
    "their order",
  );
  assert.deepEqual(
    met({ goals: { "goal a": a } }, mine).merged.goals,
    { "goal a": { ...a, ttl: "Mine" } },
    "one retired",
  );
  assert.deepEqual(met({ goals: { "goal b": b } }, mine).clashes, ["goals.goal a"], "retired and changed");
});

test("a clash has words, with what cannot be read as it is typed", () => {
  const tree = treeOf(draftOf(kept([5])));
  const words = (path, theirs, mine) => clashWords({ path, base: "5", theirs, mine }, tree);
  const payout = ["goals", "goal g-0", "payout_usd"];
  const texts = ({ theirs, mine }) => [theirs, mine];
  assert.deepEqual(texts(words(payout, "4", "3.50")), ["$4.00", "$3.50"]);
  assert.deepEqual(texts(words(payout, "4", "4.00")), ["", ""], "they read the same");
  assert.deepEqual(texts(words(payout, "4", "four")), ["$4.00", "four"]);
  assert.deepEqual(texts(words(["click_cap"], "4", "1,000")), ["4", "1,000"]);
  assert.deepEqual(texts(words(["starts_at"], "1 Nov 2026", "soon")), ["1 Nov 2026, 00:00 UTC", "soon"]);
  const goal = tree.goals["goal g-0"];
  assert.match(words(["goals", "goal g-0"], undefined, { ...goal, payout_usd: "four" }).mine, /A goal, four$/);
  const labelled = named({ events: "Events" }, { events: (event) => event.toUpperCase() });
  assert.deepEqual(labelled({ path: ["events"], theirs: ["a", "b"], mine: [] }), {
    field: "Events",
    theirs: "A, B",
    mine: "empty",
  });
});
