// Stock tools on `openapi.yaml` and `openapi-dashboard.yaml`: two linters, generators of clients in TypeScript and Python, and
// a mock server. Two of the generated clients run against Signpost. Needs the packages of this folder and those of
// requirements.txt, which `make verify` installs.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { DEMO, freePort, ROOT, startSignpost } from "../browser/support/signpost.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const GENERATED = join(HERE, "generated");
const BIN = join(HERE, "node_modules/.bin");
const PYTHON = join(ROOT, ".tools/openapi-python");
const DOCUMENTS = ["openapi", "openapi-dashboard"];
const document = (name) => join(ROOT, `${name}.yaml`);
const TSC = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext"];

/** Apps of the demo: one whose offers are listed, and one with rewards. */
const APP = "10000002";
const REWARDED_APP = "10000003";
/** An app to create. */
const NEW_APP = "10000044";

const environment = {
  ...process.env,
  PYTHONPATH: PYTHON,
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
};

/** Runs a program, and fails with all that it wrote. */
async function run(program, args, { input, ...options } = {}) {
  const running = promisify(execFile)(program, args, { cwd: HERE, env: environment, maxBuffer: 1 << 26, ...options });
  if (input !== undefined) running.child.stdin.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    assert.fail(`${program} ${args.join(" ")}\n${error.stdout}\n${error.stderr}`);
  }
}

let signpost;
let setup;

before(async () => {
  await rm(GENERATED, { recursive: true, force: true });
  signpost = await startSignpost();
  const rewards = join(ROOT, "fixtures/local/rewards.py");
  await run("python3", [rewards, signpost.base, "local-operator-token"]);
  const { pub_key } = await signpost.operator("GET", `/publishers/${DEMO}/pub_key`);
  const { api_key } = await signpost.operator("POST", `/publishers/${DEMO}/report_keys`, { label: "tools" });
  setup = {
    base: signpost.base,
    app: APP,
    rewardedApp: REWARDED_APP,
    pubKey: pub_key,
    reportKey: api_key,
    operatorToken: "local-operator-token",
  };
});

after(() => signpost?.stop());

/** The filters of the clients, as they are sent. */
const FILTERS = [
  { dim: "offer_type", match: { type: "any", value: ["CPI", "CPE"] } },
  { dim: "platform", match: { type: "exact", value: ["ios"] } },
  { dim: "country", match: { type: "any", value: ["DE"] } },
  { dim: "offer_id", match: { type: "any", values: ["60702", "23990"] } },
];

async function total(filter) {
  const answer = await fetch(`${signpost.base}/v1/offer/api`, {
    method: "POST",
    headers: { "App-Id": APP, "Pub-Key": setup.pubKey, "Content-Type": "application/json" },
    body: JSON.stringify({ page: 1, size: 1, filt: [filter] }),
  });
  return (await answer.json()).total;
}

/** Fails unless a client found the demo's data. */
async function check(found, newApp) {
  const { conversions } = await signpost.operator("GET", `/apps/${REWARDED_APP}/conversions?limit=1000`);
  assert.deepEqual(
    found.transactions,
    conversions.map((conversion) => conversion.transaction_id),
  );
  assert.ok(found.pages > 2, `${found.pages} pages`);
  assert.equal(found.created, newApp);
  assert.deepEqual(found.statuses, [200, 204]);
  assert.ok(found.revenue.length > 0 && found.revenue.every((revenue) => revenue > 0), `${found.revenue}`);
  assert.deepEqual(found.totals, await Promise.all(FILTERS.map(total)));
  assert.ok(
    found.totals.every((total) => total > 0),
    `${found.totals}`,
  );
}

for (const name of DOCUMENTS) {
  test(`Redocly and Spectral find nothing in ${name}.yaml`, async () => {
    await run(join(BIN, "redocly"), ["lint", "--config", "redocly.yaml", document(name)]);
    await run(join(BIN, "spectral"), ["lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint", document(name)]);
  });
}

test("a client with types of openapi-typescript compiles under tsc --strict and runs", async () => {
  for (const name of DOCUMENTS) {
    // Without the flag a field of a request with a `default` counts as required.
    const to = join(GENERATED, `${name}.d.ts`);
    await run(join(BIN, "openapi-typescript"), [document(name), "--default-non-nullable=false", "-o", to]);
  }
  await run(join(BIN, "tsc"), [...TSC, "client.ts", "generated/openapi-dashboard.d.ts"]);
  const outfile = join(GENERATED, "client.mjs");
  await build({ entryPoints: [join(HERE, "client.ts")], bundle: true, format: "esm", outfile, logLevel: "warning" });
  const client = await import(pathToFileURL(outfile));
  await check(await client.run({ ...setup, newApp: NEW_APP }), NEW_APP);
});

test("the client of openapi-python-client has every operation and runs", async () => {
  const to = join(GENERATED, "signpost_client");
  const program = "import openapi_python_client.cli as cli; cli.app()";
  const args = [
    "generate",
    "--path",
    document("openapi"),
    "--config",
    "python-client.yaml",
    "--meta",
    "none",
    "--fail-on-warning",
  ];
  await run("python3", ["-c", program, ...args, "--output-path", to]);
  const newApp = `${Number(NEW_APP) + 1}`;
  const told = await run("python3", ["client.py"], {
    input: JSON.stringify({ ...setup, newApp }),
    env: { ...environment, PYTHONPATH: `${PYTHON}:${GENERATED}` },
  });
  await check(JSON.parse(told), newApp);
});

test("openapi-generator makes clients in Python and TypeScript that compile", async () => {
  const generate = (generator, ...args) =>
    run("python3", [
      "-c",
      "from openapi_generator_cli import cli; cli()",
      ...["generate", "-i", document("openapi"), "-g", generator, "-o", join(GENERATED, generator)],
      // The generator would also write a server for the webhooks, which is not valid Python.
      ...[
        "--global-property",
        "apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false",
      ],
      ...args,
    ]);
  await generate("python", "--package-name", "signpost_generated");
  await run("python3", ["-c", "import signpost_generated"], {
    env: { ...environment, PYTHONPATH: `${PYTHON}:${join(GENERATED, "python")}` },
  });
  await generate("typescript-fetch");
  await run(join(BIN, "tsc"), [
    ...TSC.slice(0, 4),
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--typeRoots",
    join(HERE, "node_modules/.none"),
    join(GENERATED, "typescript-fetch/index.ts"),
  ]);
});

test("a mock server takes every example of a request", async () => {
  // Prism reads JSON as well as YAML; the served document is what an integrator has.
  const served = await (await fetch(`${signpost.base}/openapi.json`)).json();
  const file = join(GENERATED, "served.json");
  await writeFile(file, JSON.stringify(served));
  const port = await freePort();
  const mock = spawn(
    join(HERE, "node_modules/.bin/prism"),
    ["mock", file, "--port", `${port}`, "--host", "127.0.0.1"],
    {
      cwd: HERE,
      stdio: "ignore",
    },
  );
  try {
    const base = `http://127.0.0.1:${port}`;
    for (const giveUp = Date.now() + 30_000; ; ) {
      if (
        await fetch(base).then(
          () => true,
          () => false,
        )
      )
        break;
      assert.ok(Date.now() < giveUp, "Prism does not answer");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    let sent = 0;
    for (const { method, path, query, headers, body } of requests(served)) {
      const answer = await fetch(base + path + query, { method, headers, body, redirect: "manual" });
      assert.ok(answer.status < 400, `${method} ${path}${query}: ${answer.status} ${await answer.text()}`);
      sent += 1;
    }
    assert.ok(sent > 70, `${sent} requests`);
  } finally {
    mock.kill();
  }
});

/** A request of each operation, and of each example of its body, with the examples of its parameters. */
function* requests(served) {
  const at = (pointer) =>
    pointer
      .split("/")
      .slice(1)
      .reduce((value, key) => value[key.replaceAll("~1", "/")], served);
  const resolved = (value) => (value?.$ref ? resolved(at(value.$ref.slice(1))) : value);
  for (const [path, item] of Object.entries(served.paths)) {
    for (const method of ["get", "head", "post", "put", "patch", "delete"].filter((name) => item[name])) {
      const operation = item[method];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolved);
      const headers = { "App-Id": APP, "Pub-Key": "0".repeat(32), "X-Api-Key": "sk", Authorization: "Bearer token" };
      let filled = path;
      const query = new URLSearchParams();
      for (const { name, in: where, required, example } of parameters) {
        if (where === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(example));
        if (where === "query" && required) query.set(name, example);
        if (where === "header" && required) headers[name] = example;
      }
      const scheme = Object.keys(operation.security?.[0] ?? {}).find((name) => name === "AdvertiserToken");
      if (scheme) query.set("token", "at_1");
      const request = { method: method.toUpperCase(), path: filled, query: query.size ? `?${query}` : "", headers };
      const bodies = Object.entries(resolved(operation.requestBody)?.content ?? {});
      if (bodies.length === 0) yield request;
      for (const [type, { example, examples }] of bodies) {
        for (const value of examples ? Object.values(examples).map((each) => each.value) : [example]) {
          let body = typeof value === "string" ? value : JSON.stringify(value);
          if (type === "application/x-www-form-urlencoded") body = `${new URLSearchParams(value)}`;
          yield { ...request, headers: { ...headers, "Content-Type": type }, body };
        }
      }
    }
  }
}
