// `make deploy`, `make secrets`, `make preflight` and `make rollback`, against a stub of Cloudflare's API and the real
// Workers on workerd.

import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { SECRETS } from "../../src/deploy/secrets.mjs";
import { problemsOf, readSettings } from "../../src/deploy/settings.mjs";
import { CONFIGS, filled, newCheckout } from "./checkout.mjs";
import { ROOT, runWith, startCloudflare } from "./cloudflare.mjs";
import { startWorkers } from "./workers.mjs";

const NAMES = { edge: "signpost", origin: "signpost-origin" };
/** The Workers of an account with all secrets, as a deployment leaves them. */
const deployed = (tag = "v1", without = {}) =>
  Object.fromEntries(
    Object.entries(NAMES).map(([worker, name]) => {
      const names = Object.keys(SECRETS).filter((key) => SECRETS[key].workers.includes(worker));
      const set = names.filter((key) => !without[worker]?.includes(key));
      return [name, { tag: worker === "origin" ? tag : undefined, secrets: Object.fromEntries(set.map((key) => [key, "x"])) }];
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

const preflightOf = (more = {}) => ({ PREFLIGHT_EDGE: workers.edge, PREFLIGHT_ORIGIN: workers.origin, ...more });

async function withAccount(existing, run) {
  const api = await startCloudflare(existing);
  try {
    await run(api);
  } finally {
    api.close();
  }
}

test("make deploy on the repository as it is names every placeholder within five seconds", async () => {
  await withAccount({}, async (api) => {
    const start = Date.now();
    const { code, output } = await runWith(api, "make", ["deploy"], { cwd: ROOT });
    const seconds = (Date.now() - start) / 1_000;
    assert.notEqual(code, 0);
    assert.ok(seconds < 5, `${seconds} s`);
    for (const path of Object.values(CONFIGS)) {
      const text = await readFile(join(ROOT, path), "utf8");
      const [, production] = text.split("[env.production]\n");
      const lines = output.split("\n").filter((line) => line.startsWith(`${path}: env.production.`));
      const values = [...production.matchAll(/^\s*(?:\{ pattern|(\w+)) = "([^"]*\bexample\.com)"/gm)];
      assert.ok(values.length > 8, text);
      for (const [, name, value] of values) {
        const field = name ? `vars.${name}:` : "routes:";
        assert.ok(lines.some((line) => line.includes(field) && line.includes(`"${value}"`)), `${field} ${value}\n${output}`);
      }
      assert.ok(lines.some((line) => line.includes("kv_namespaces.SNAPSHOTS.id")), output);
      assert.equal(lines.length, values.length + 1, output);
    }
    assert.match(output, /Nothing was built or changed/);
    assert.deepEqual(api.changes, []);
  });
});

const both = (name, value) => (all) => {
  for (const { vars } of Object.values(all)) vars[name] = value;
};
const vars = (worker, name, value) => (all) => {
  all[worker].vars[name] = value;
};
const route = (worker, change) => (all) => change(all[worker].routes);
const kv = (worker, id) => (all) => {
  all[worker].kv_namespaces[0].id = id;
};
/** A change of right settings, and the only problems that it makes. */
const SETTINGS = [
  ["right settings", () => {}],
  ["a host of the edge differs", vars("edge", "OFFERS_HOST", "o.acme.test"), [
    /^wrangler\.toml: env\.production\.vars\.OFFERS_HOST: is "o\.acme\.test", but "offers\.acme\.test" in src/,
    /^wrangler\.toml: env\.production\.routes: "o\.acme\.test" \(OFFERS_HOST\) is missing/,
    /^wrangler\.toml: env\.production\.routes: "offers\.acme\.test" is none of the hosts/,
  ]],
  ["a host is missing", both("TRACKING_HOST", undefined), [
    /^src.*vars\.TRACKING_HOST: is not set; put a host name/,
    /^wrangler.*vars\.TRACKING_HOST: is not set; put a host name/,
    /^wrangler.*routes: "track\.acme\.test" is none of the hosts/,
    /^wrangler.*vars\.TRACKING_URL: is "https:\/\/track\.acme\.test"; put/,
    /^src.*vars\.TRACKING_URL: is "https:\/\/track\.acme\.test"; put/,
  ]],
  ["a host is a URL", vars("origin", "OPERATOR_HOST", "https://operator.acme.test"), [
    /^wrangler.*OPERATOR_HOST: is "operator/,
    /^src.*OPERATOR_HOST: is "https.*without https/,
    /^src.*routes: "https.*is missing/,
    /^src.*routes: "operator.*none of the hosts/,
    /^src.*CONSOLE_URL: is "https/,
  ]],
  ["two hosts are the same", both("REPORTING_HOST", "offers.acme.test"), [
    /^src.*REPORTING_HOST: is the same as OFFERS_HOST/,
    /^wrangler.*routes: "reporting\.acme\.test" is none of the hosts/,
  ]],
  ["a host is not routed", route("edge", (routes) => routes.pop()), [/^wrangler.*routes: "reporting.*is missing; add \{/]],
  ["a host is routed to the other Worker", route("edge", (routes) => routes.push({ pattern: "operator.acme.test/*" })), [
    /^wrangler.*routes: "operator\.acme\.test" is OPERATOR_HOST, which src.origin.wrangler\.toml routes; remove it/,
  ]],
  ["the tracking URLs differ", vars("edge", "TRACKING_URL", "https://acme.test"), [/^wrangler.*TRACKING_URL: is "https:..acme/]],
  ["a URL without TLS", vars("origin", "DASHBOARD_URL", "http://dashboard.acme.test"), [/^src.*DASHBOARD_URL: is "http:/]],
  ["a console at another host", vars("origin", "CONSOLE_URL", "https://dashboard.acme.test"), [/^src.*CONSOLE_URL: is "https/]],
  ["no console", vars("origin", "CONSOLE_URL", undefined)],
  ["a placeholder as contact", vars("origin", "SUPPORT_CONTACT", "https://help.example.com/x"), [/^src.*SUPPORT_CONTACT: .*placeholder/]],
  ["a placeholder as namespace", kv("edge", "0".repeat(32)), [/^wrangler.*id: is a placeholder/, /^wrangler.*id: is .* but "abab/]],
  ["two namespaces", kv("edge", "cd".repeat(16)), [/^wrangler\.toml: env\.production\.kv_namespaces\.SNAPSHOTS\.id: is "cdcd/]],
  ["local sign-in", vars("origin", "LOCAL_SIGN_IN", "true"), [/^src.*LOCAL_SIGN_IN: must be "false" in production, but is "true"/]],
  ["local sign-in by default", vars("origin", "LOCAL_SIGN_IN", undefined), [/^src.*LOCAL_SIGN_IN: .*but is not set/]],
  ["private callbacks", vars("origin", "ALLOW_PRIVATE_CALLBACKS", "true"), [/^src.*ALLOW_PRIVATE_CALLBACKS: must be "false"/]],
  ["the fair queue", vars("edge", "FAIR_QUEUE", "true"), [/^wrangler.*FAIR_QUEUE: must be "false"/]],
];

test("each problem of the settings is named with its file and field", () => {
  for (const [name, change, expected = []] of SETTINGS) {
    const changed = structuredClone(settings);
    change(changed);
    const found = problemsOf(changed);
    assert.equal(found.length, expected.length, `${name}:\n${found.join("\n")}`);
    for (const line of expected) assert.ok(found.some((problem) => line.test(problem)), `${name}: ${line}\n${found.join("\n")}`);
  }
});

/** An account, variables of make, and the problems that a deployment finds there. */
const ACCOUNTS = [
  ["new", {}, {}, [/no secret is set at Cloudflare; run make secrets TO=file/, /PLAN=paid/]],
  ["without one secret", deployed("v1", { origin: ["STORE_KEYS"] }), { PLAN: "paid" }, [
    /^src.*secret STORE_KEYS is missing at the origin; set it from the file/,
  ]],
  ["with half of a pair", deployed("v1", { edge: ["EDGE_KEYS"] }), { PLAN: "paid" }, [
    /^wrangler\.toml: secret EDGE_KEYS is missing at the edge and set at the origin, and both need the same value/,
  ]],
  ["with newer code", deployed("v9"), { PLAN: "paid" }, [/^src.*migrations: the deployed Worker is at tag v9, which is missing here/]],
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
    const kept = Object.fromEntries((await readFile(file, "utf8")).trim().split("\n").map((line) => line.split(/=(.*)/s)));
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
    const env = preflightOf({ OPERATOR_TOKEN: workers.secrets.OPERATOR_TOKEN, PREFLIGHT_SECONDS: "5" });
    const { code, output } = await checkout.make(api, ["deploy", "PLAN=paid"], env);
    assert.equal(code, 0, output);
    // The Workers run without a catalog, which is not an error after a first deployment.
    assert.match(output, /ok {6}TRACKING_HOST track\.acme\.test: \/healthz: clicks is not served: no_snapshot/);
    assert.deepEqual(api.changes.slice(count), [
      `upload ${NAMES.origin}`,
      `upload ${NAMES.edge}`,
      `deploy ${NAMES.edge}`,
    ]);
    assert.equal(api.uploads.at(-2).migrations.new_tag, "v1");
    for (const upload of api.uploads.slice(-2)) assert.equal(upload.annotations["workers/tag"], commit);
    assert.deepEqual(Object.keys(api.workers.get(NAMES.edge).secrets).length, 5);
  });
});
