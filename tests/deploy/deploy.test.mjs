// `make deploy`, `make secrets`, `make preflight` and `make rollback`, against a stub of Cloudflare's API and the real
// Workers on workerd.

import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { SECRETS } from "../../src/deploy/secrets.mjs";
import { readSettings } from "../../src/deploy/settings.mjs";
import { answerOf } from "../../src/deploy/preflight.mjs";
import { newCheckout } from "./checkout.mjs";
import { ROOT, startCloudflare } from "./cloudflare.mjs";
import { startWorkers } from "./workers.mjs";

const NAMES = { edge: "signpost", origin: "signpost-origin" };
/** The Workers of an account with all secrets, as a deployment leaves them. */
const deployed = (tag = "v1", without = {}) =>
  Object.fromEntries(
    Object.entries(NAMES).map(([worker, name]) => {
      const names = Object.keys(SECRETS).filter((key) => SECRETS[key].workers.includes(worker));
      const set = names.filter((key) => !without[worker]?.includes(key));
      return [
        name,
        { tag: worker === "origin" ? tag : undefined, secrets: Object.fromEntries(set.map((key) => [key, "x"])) },
      ];
    }),
  );

let checkout;
let workers;
let settings;

before(async () => {
  checkout = await newCheckout();
  await checkout.commit();
  settings = readSettings(checkout.folder);
  workers = await startWorkers(settings.origin.vars);
});
after(async () => {
  await workers?.stop();
  await checkout?.remove();
});

const preflightOf = (more = {}) => ({
  PREFLIGHT_SECONDS: "20",
  PREFLIGHT_EDGE: workers.edge,
  PREFLIGHT_ORIGIN: workers.origin,
  ...more,
});

async function withAccount(existing, run) {
  const api = await startCloudflare(existing);
  try {
    await run(api);
  } finally {
    api.close();
  }
}

/** An account, variables of make, and the problems that a deployment finds there. */
const ACCOUNTS = [
  ["new", {}, {}, [/no secret is set at Cloudflare; run make secrets TO=file/, /PLAN=paid/]],
  [
    "without one secret",
    deployed("v1", { origin: ["STORE_KEYS"] }),
    { PLAN: "paid" },
    [/^src.*secret STORE_KEYS is missing at the origin; set it from the file/],
  ],
  [
    "with half of a pair",
    deployed("v1", { edge: ["EDGE_KEYS"] }),
    { PLAN: "paid" },
    [/^wrangler\.toml: secret EDGE_KEYS is missing at the edge and set at the origin, and both need the same value/],
  ],
  [
    "with newer code",
    deployed("v9"),
    { PLAN: "paid" },
    [/^src.*migrations: the deployed Worker is at tag v9, which is missing here/],
  ],
];

test("each problem of the account is named before anything is built or changed", async () => {
  for (const [name, account, { PLAN: plan }, expected] of ACCOUNTS) {
    await withAccount(account, async (api) => {
      const { code, stderr } = await checkout.make(api, ["deploy", ...(plan ? [`PLAN=${plan}`] : [])]);
      assert.notEqual(code, 0, name);
      assert.match(stderr, new RegExp(`Problems: ${expected.length}\\. Nothing was built or changed`), name);
      for (const line of expected) assert.match(stderr, new RegExp(line.source, "m"), name);
      assert.deepEqual(api.changes, [], name);
    });
  }
});

test("a first deployment draws the secrets once, and deploys the origin before the edge", async () => {
  await withAccount({}, async (api) => {
    const file = join(checkout.folder, "kept.env");
    const undecided = await checkout.make(api, ["secrets"]);
    assert.match(undecided.stderr, /make secrets TO=file/);
    assert.deepEqual(api.changes, []);

    // Each failure leaves the file, from which the next call goes on.
    api.refusesSecrets = NAMES.edge;
    const half = await checkout.make(api, ["secrets", `TO=${file}`]);
    assert.match(half.stderr, /make secrets FROM=file/);
    api.refusesSecrets = undefined;
    const refused = await checkout.make(api, ["secrets", `TO=${file}2`]);
    assert.match(refused.stderr, /secret METRICS_TOKEN is missing at the edge and set at the origin/);
    const put = await checkout.make(api, ["secrets", `FROM=${file}`]);
    assert.equal(put.code, 0, put.output);

    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const kept = Object.fromEntries(
      (await readFile(file, "utf8"))
        .trim()
        .split("\n")
        .map((line) => line.split(/=(.*)/s)),
    );
    assert.deepEqual(Object.keys(kept), Object.keys(SECRETS));
    for (const [worker, name] of Object.entries(NAMES)) {
      const names = Object.keys(SECRETS).filter((key) => SECRETS[key].workers.includes(worker));
      const expected = Object.fromEntries(names.map((key) => [key, kept[key]]));
      assert.deepEqual(api.workers.get(name).secrets, expected, worker);
    }
    for (const value of Object.values(kept)) assert.ok(!(half.output + put.output).includes(value));
    assert.equal(new Set(Object.values(kept)).size, Object.keys(kept).length);

    const count = api.changes.length;
    const again = await checkout.make(api, ["secrets", `TO=${file}3`]);
    assert.equal(again.code, 0, again.output);
    assert.match(again.stderr, /Nothing was changed/);
    assert.equal(api.changes.length, count);

    const commit = await checkout.commit();
    const env = preflightOf({ OPERATOR_TOKEN: workers.secrets.OPERATOR_TOKEN });
    const { code, output } = await checkout.make(api, ["deploy", "PLAN=paid"], env);
    assert.equal(code, 0, output);
    // The catalog is still empty.
    assert.match(output, /ok {6}TRACKING_HOST track\.acme\.test: \/healthz/);
    assert.deepEqual(api.changes.slice(count), [
      `upload ${NAMES.origin}`,
      `upload ${NAMES.edge}`,
      `deploy ${NAMES.edge}`,
    ]);
    assert.equal(api.uploads.at(-2).migrations.new_tag, "v1");
    for (const upload of api.uploads.slice(-2)) assert.equal(upload.annotations["workers/tag"], commit);
    assert.deepEqual(Object.keys(api.workers.get(NAMES.edge).secrets).length, 5);

    // The deployed version has `limits.cpu_ms`, which proves the plan.
    const later = await checkout.make(api, ["deploy"], env);
    assert.equal(later.code, 0, later.output);
  });
});

test("make secrets TO=- writes the secrets to stdout and to no file", async () => {
  await withAccount({}, async (api) => {
    const { code, stdout, stderr } = await checkout.make(api, ["--silent", "secrets", "TO=-"]);
    assert.equal(code, 0, stderr);
    const lines = Object.entries({
      ...api.workers.get(NAMES.edge).secrets,
      ...api.workers.get(NAMES.origin).secrets,
    }).map(([name, value]) => `${name}=${value}`);
    assert.deepEqual(stdout.trim().split("\n").sort(), lines.sort());
    assert.ok(lines.every((line) => !stderr.includes(line.split("=")[1])));
  });
});

test("a preflight names the host and the check that fails", async () => {
  await withAccount({}, async (api) => {
    const { OPERATOR_TOKEN, METRICS_TOKEN } = workers.secrets;
    const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}`, "Content-Type": "application/x-ndjson" };
    const body = await readFile(join(ROOT, "fixtures/catalog.ndjson"));
    const url = new URL("/v1/operator/import", workers.origin);
    const loaded = await answerOf(url, settings.origin.vars.OPERATOR_HOST, { method: "POST", headers, body });
    assert.equal(loaded.status, 200, loaded.text);

    const run = (env) => checkout.make(api, ["preflight"], preflightOf(env));
    const right = await run({ OPERATOR_TOKEN, METRICS_TOKEN });
    assert.equal(right.code, 0, right.output);
    assert.match(right.output, /^ok {6}a click of an unknown goal of the first app$/m);
    assert.doesNotMatch(right.output, /not ok|not tried/);
    assert.match(right.output, /^ok {6}the keys of both Workers$/m);

    const { EDGE_KEYS } = workers.secrets;
    for (const [name, value] of [
      ["TOKEN_MAC", "ab".repeat(32)],
      ["EDGE_KEYS", EDGE_KEYS.replace("1:", "2:")],
    ]) {
      const other = await startWorkers({ ...settings.origin.vars, [name]: value });
      const mixed = await run({ METRICS_TOKEN, PREFLIGHT_ORIGIN: other.origin, PREFLIGHT_SECONDS: "0.1" });
      await other.stop();
      assert.match(
        mixed.output,
        new RegExp(`^not ok {2}the keys of both Workers: they differ in ${name}; set the same`, "m"),
      );
    }

    const wrong = [
      [{ OPERATOR_TOKEN: "wrong" }, /^not ok {2}OPERATOR_HOST operator\.acme\.test: OPERATOR_TOKEN at .*got 401/m],
      [
        { METRICS_TOKEN: "wrong" },
        /^not ok {2}TRACKING_HOST track\.acme\.test: METRICS_TOKEN at \/metrics: .*got 401/m,
      ],
      [{ PREFLIGHT_EDGE: workers.origin }, /^not ok {2}TRACKING_HOST .*healthz: it serves operator; check the routes/m],
      [{ PREFLIGHT_ORIGIN: workers.edge }, /^not ok {2}OPERATOR_HOST .*healthz: the edge answers; check the routes/m],
      [{ PREFLIGHT_ORIGIN: "http://127.0.0.1:9" }, /^not ok {2}DASHBOARD_HOST .*ECONNREFUSED/m],
    ];
    for (const [env, line] of wrong) {
      const { code, output } = await run({ PREFLIGHT_SECONDS: "0.1", ...env });
      assert.notEqual(code, 0, output);
      assert.match(output, line);
      assert.match(output, /not tried {2}(OPERATOR|METRICS)_TOKEN/);
      assert.match(output, /Checks that failed: \d+\. See docs\/OPERATING\.md/);
    }
    assert.deepEqual(api.changes, []);
  });
});

/** Runs `run` with an account, and functions to deploy there without wrangler and to roll back. */
const withRollbacks = (run) =>
  withAccount(deployed(), async (api) => {
    const env = preflightOf({ OPERATOR_TOKEN: workers.secrets.OPERATOR_TOKEN });
    const roll = (to) => {
      api.changes.length = 0;
      return checkout.make(api, ["rollback", `TO=${to}`], env);
    };
    await run({
      api,
      /** Adds a version of each Worker, as `make deploy` does, and returns their ids. */
      add: (commit, tag = "v1") => {
        const version = (worker) =>
          api.deploy(NAMES[worker], {
            tag: worker === "origin" ? tag : undefined,
            annotations: { "workers/tag": commit },
          });
        const origin = version("origin").id;
        return { edge: version("edge").id, origin };
      },
      refuses: async (to, reason) => {
        const { code, output } = await roll(to);
        assert.notEqual(code, 0, output);
        assert.match(output, reason);
        assert.deepEqual(api.changes, [], output);
      },
      /** Rolls back, and returns the changes. Both Workers have these versions then. */
      succeeds: async (to, ids) => {
        const { code, output } = await roll(to);
        assert.equal(code, 0, output);
        for (const [worker, name] of Object.entries(NAMES)) {
          assert.equal(api.workers.get(name).deployed, ids[worker], `${to}: ${worker}`);
        }
        return api.changes;
      },
    });
  });

test("a rollback deploys the versions of a commit, the edge first, or says why it refuses", async () => {
  await withRollbacks(async ({ api, add, refuses, succeeds }) => {
    const release = (version) =>
      checkout.change("CHANGELOG.md", (text) =>
        text.replace("## Unreleased", `## Unreleased\n\n## ${version} - 2026-11-30`),
      );
    const first = await checkout.commit();
    add(first);
    await release("0.1.0");
    const second = await checkout.commit();
    const ids = add(second);
    await release("0.2.0");
    const third = await checkout.commit();
    const newest = add(third);
    await refuses("", /give the commit or the version/);
    await refuses("ffffffff", new RegExp(`none of the last 10 versions is ffffffff.*${second}`));
    await refuses(first, /CHANGELOG\.md: 0\.2\.0 and 0\.1\.0 came after/);

    const back = [`deploy ${NAMES.edge}`, `deploy ${NAMES.origin}`];
    assert.deepEqual(await succeeds(second.slice(0, 8), ids), back);
    assert.deepEqual(await succeeds(third, newest), back.reverse());

    add(await checkout.commit(), "v2");
    await refuses(ids.edge, /migrations: the version is at tag v1 and the deployed one at v2; Cloudflare refuses/);
    const changed = api.deploy(NAMES.edge, {});
    await refuses(second, /^wrangler\.toml: after this version another was made without make deploy/m);
    await refuses(changed.id, /has no commit, as make deploy did not make it/);
  });
});

test("a rollback deploys the versions whose ids are given, and guesses none", async () => {
  await withRollbacks(async ({ add, refuses, succeeds }) => {
    const others = ["c0ffee0123aa", "c0ffee0456bb"];
    for (const other of others) add(other);
    const commit = await checkout.commit();
    add(commit);
    const clean = add(commit);
    const dirty = [add(`${commit}-dirty`), add(`${commit}-dirty`)];
    await succeeds(commit.slice(0, 9), clean);
    await succeeds(`${dirty[0].edge},${dirty[0].origin}`, dirty[0]);

    const several = new RegExp(
      `the origin has several versions with the tag ${commit}-dirty: ${dirty[0].origin} of 2026`,
    );
    await refuses(dirty[0].edge, several);
    await refuses(`${dirty[0].edge},${clean.origin}`, /has several tags/);
    await refuses(`${dirty[0].edge},c0ffee0123aa`, /none of the last 10 versions/);
    await refuses("c0ffee0", new RegExp(`several tags: ${others.join(", ")}`));
    await refuses("c0ffee", /give at least 7 characters of the commit/);
  });
});
