// The checks of `make deploy` that need no network: the settings of both `wrangler.toml`.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { SECRETS } from "../../src/deploy/secrets.mjs";
import { problemsOf, readSettings } from "../../src/deploy/settings.mjs";
import { CONFIGS, newCheckout } from "./checkout.mjs";
import { ROOT, startCloudflare } from "./cloudflare.mjs";

/** A checkout with an operator's hosts, and one with placeholders. */
let [right, placeholders] = [];

before(async () => {
  [right, placeholders] = await Promise.all([newCheckout(), newCheckout({ isFilled: false })]);
});
after(() => Promise.all([right, placeholders].map((checkout) => checkout?.remove())));

test("make deploy names every placeholder within five seconds", async () => {
  const api = await startCloudflare();
  try {
    // Other tests may keep the machine busy, so a slow run is repeated.
    let [seconds, code, output] = [Number.POSITIVE_INFINITY];
    for (let attempt = 0; attempt < 3 && seconds >= 5; attempt += 1) {
      const start = Date.now();
      ({ code, output } = await placeholders.make(api, ["deploy"]));
      seconds = (Date.now() - start) / 1_000;
    }
    assert.notEqual(code, 0);
    assert.ok(seconds < 5, `${seconds} s`);
    for (const path of Object.values(CONFIGS)) {
      const text = await readFile(join(placeholders.folder, path), "utf8");
      const [, production] = text.split("[env.production]\n");
      const lines = output.split("\n").filter((line) => line.startsWith(`${path}: env.production.`));
      const values = [...production.matchAll(/^\s*(?:\{ pattern|(\w+)) = "([^"]*\bexample\.com)"/gm)];
      assert.ok(values.length > 8, text);
      for (const [, name, value] of values) {
        const field = name ? `vars.${name}:` : "routes:";
        assert.ok(
          lines.some((line) => line.includes(field) && line.includes(`"${value}"`)),
          `${field} ${value}\n${output}`,
        );
      }
      assert.ok(
        lines.some((line) => line.includes("kv_namespaces.SNAPSHOTS.id")),
        output,
      );
      assert.equal(lines.length, values.length + 1, output);
    }
    assert.match(output, /Nothing was built or changed/);
    assert.deepEqual(api.changes, []);
  } finally {
    api.close();
  }
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
  [
    "a host of the edge differs",
    vars("edge", "OFFERS_HOST", "o.acme.test"),
    [
      /^wrangler\.toml: env\.production\.vars\.OFFERS_HOST: is "o\.acme\.test", but "offers\.acme\.test" in src/,
      /^wrangler\.toml: env\.production\.routes: "o\.acme\.test" \(OFFERS_HOST\) is missing/,
      /^wrangler\.toml: env\.production\.routes: "offers\.acme\.test" is none of the hosts/,
    ],
  ],
  [
    "a host is missing",
    both("TRACKING_HOST", undefined),
    [
      /^src.*vars\.TRACKING_HOST: is not set; put a host name/,
      /^wrangler.*vars\.TRACKING_HOST: is not set; put a host name/,
      /^wrangler.*routes: "track\.acme\.test" is none of the hosts/,
      /^wrangler.*vars\.TRACKING_URL: is "https:\/\/track\.acme\.test"; put/,
      /^src.*vars\.TRACKING_URL: is "https:\/\/track\.acme\.test"; put/,
    ],
  ],
  [
    "a host is a URL",
    vars("origin", "OPERATOR_HOST", "https://operator.acme.test"),
    [
      /^wrangler.*OPERATOR_HOST: is "operator/,
      /^src.*OPERATOR_HOST: is "https.*without https/,
      /^src.*routes: "https.*is missing/,
      /^src.*routes: "operator.*none of the hosts/,
      /^src.*CONSOLE_URL: is "https/,
    ],
  ],
  [
    "two hosts are the same",
    both("REPORTING_HOST", "offers.acme.test"),
    [
      /^src.*REPORTING_HOST: is the same as OFFERS_HOST/,
      /^wrangler.*routes: "reporting\.acme\.test" is none of the hosts/,
    ],
  ],
  [
    "a host is not routed",
    route("edge", (routes) => routes.pop()),
    [/^wrangler.*routes: "reporting.*is missing; add \{/],
  ],
  [
    "a host is routed to the other Worker",
    route("edge", (routes) => routes.push({ pattern: "operator.acme.test/*" })),
    [/^wrangler.*routes: "operator\.acme\.test" is OPERATOR_HOST, which src.origin.wrangler\.toml routes; remove it/],
  ],
  [
    "the tracking URLs differ",
    vars("edge", "TRACKING_URL", "https://acme.test"),
    [/^wrangler.*TRACKING_URL: is "https:..acme/],
  ],
  [
    "a URL without TLS",
    vars("origin", "DASHBOARD_URL", "http://dashboard.acme.test"),
    [/^src.*DASHBOARD_URL: is "http:/],
  ],
  [
    "a console at another host",
    vars("origin", "CONSOLE_URL", "https://dashboard.acme.test"),
    [/^src.*CONSOLE_URL: is "https/],
  ],
  ["no console", vars("origin", "CONSOLE_URL", undefined)],
  [
    "a placeholder as contact",
    vars("origin", "SUPPORT_CONTACT", "https://help.example.com/x"),
    [/^src.*SUPPORT_CONTACT: .*placeholder/],
  ],
  [
    "a placeholder as namespace",
    kv("edge", "0".repeat(32)),
    [/^wrangler.*id: is a placeholder/, /^wrangler.*id: is .* but "abab/],
  ],
  [
    "two namespaces",
    kv("edge", "cd".repeat(16)),
    [/^wrangler\.toml: env\.production\.kv_namespaces\.SNAPSHOTS\.id: is "cdcd/],
  ],
  [
    "local sign-in",
    vars("origin", "LOCAL_SIGN_IN", "true"),
    [/^src.*LOCAL_SIGN_IN: must be "false" in production, but is "true"/],
  ],
  ["local sign-in by default", vars("origin", "LOCAL_SIGN_IN", undefined), [/^src.*LOCAL_SIGN_IN: .*but is not set/]],
  [
    "private callbacks",
    vars("origin", "ALLOW_PRIVATE_CALLBACKS", "true"),
    [/^src.*ALLOW_PRIVATE_CALLBACKS: must be "false"/],
  ],
  ["the fair queue", vars("edge", "FAIR_QUEUE", "true"), [/^wrangler.*FAIR_QUEUE: must be "false"/]],
  [
    "a country that clients choose",
    vars("edge", "TRUST_COUNTRY_HEADER", "true"),
    [/^wrangler.*TRUST_COUNTRY_HEADER: must be "false"/],
  ],
  ["the country of the network by default", vars("edge", "TRUST_COUNTRY_HEADER", undefined)],
];

test("each problem of the settings is named with its file and field", () => {
  const settings = readSettings(right.folder);
  for (const [name, change, expected = []] of SETTINGS) {
    const changed = structuredClone(settings);
    change(changed);
    const found = problemsOf(changed);
    assert.equal(found.length, expected.length, `${name}:\n${found.join("\n")}`);
    for (const line of expected)
      assert.ok(
        found.some((problem) => line.test(problem)),
        `${name}: ${line}\n${found.join("\n")}`,
      );
  }
});

test("the configuration of each Worker names the secrets that make secrets sets", async () => {
  for (const [worker, path] of Object.entries(CONFIGS)) {
    const named = [...(await readFile(join(ROOT, path), "utf8")).matchAll(/^# {3}([A-Z_]+) {2,}/gm)].map(
      ([, name]) => name,
    );
    const set = Object.keys(SECRETS).filter((name) => SECRETS[name].workers.includes(worker));
    assert.deepEqual(named.sort(), set.sort(), path);
  }
});

test("the form of each secret is one that the Workers accept", () => {
  for (const [name, { draw, form }] of Object.entries(SECRETS)) assert.match(draw(), form, name);
  const key = "0aF".repeat(21) + "0";
  const rows = [
    ["REPORT_KEY_MAC", [key, `${key},${key}`], ["", `1:${key}`, `${key},`, key.slice(1)]],
    [
      "EDGE_KEYS",
      [`0:${key}`, `255:${key},25:${key},5:${key}`],
      [key, `256:${key}`, `999:${key}`, `-1:${key}`, `1:${key},2:${key},1:${key}`, `12:${key},12:${key}`],
    ],
    [
      "CLICK_KEYS",
      [`255:seal:${key}`, `1:open:${key},2:seal:${key}`],
      [`1:${key}`, `1:open:${key}`, `1:Seal:${key}`, `256:seal:${key}`, `1:seal:${key},1:open:${key}`],
    ],
  ];
  for (const [name, accepted, refused] of rows) {
    for (const value of accepted) assert.match(value, SECRETS[name].form, name);
    for (const value of refused) assert.doesNotMatch(value, SECRETS[name].form, name);
  }
});
