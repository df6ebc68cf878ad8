// A released tag of `src/origin/wrangler.toml` never changes, and a deployment gets each set of added classes once.
// `wrangler deploy` runs against a stub of Cloudflare's API, which says at which tag the deployed Worker is.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

const ROOT = new URL("../..", import.meta.url).pathname;
const CONFIG = "src/origin/wrangler.toml";

/** The tags of each release. A further set of classes gets a tag of its own; none of these changes. */
const RELEASED = {
  v1: ["Catalog", "Counters", "Clicks", "Ledger", "Outbox", "Accounts", "Activity", "Postbacks"],
};

/** Answers the calls of a deployment. `deployed` is the tag of the Worker there; none for a new Worker. */
async function stub(deployed) {
  const uploads = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString("latin1");
    const path = request.url.split("?")[0];
    const answer = (result, status = 200) => {
      response.writeHead(status, { "content-type": "application/json" });
      const errors = status === 200 ? [] : [{ code: 10007, message: "no such Worker" }];
      response.end(JSON.stringify({ success: status === 200, errors, messages: [], result }));
    };
    const script = { migration_tag: deployed, tag: "t", last_deployed_from: "wrangler" };
    if (/\/workers\/services\/[^/]+$/.test(path)) {
      const environment = { environment: "production", script };
      return deployed ? answer({ id: "x", default_environment: environment }) : answer(null, 404);
    }
    if (/\/environments\/[^/]+$/.test(path)) return answer({ script });
    if (request.method === "GET" && path.endsWith("/workers/scripts")) {
      return answer(deployed ? [{ id: "signpost-origin", migration_tag: deployed }] : []);
    }
    // A Worker with new classes is replaced by PUT; any other change is a POST of a version.
    if (/PUT .*\/scripts\/[^/]+$|POST .*\/versions$/.test(`${request.method} ${path}`)) {
      const metadata = body.match(/name="metadata"[^{]*(\{.*?\})\r\n--/s);
      uploads.push(JSON.parse(metadata[1]));
      return answer({ id: "signpost-origin", startup_time_ms: 1, resources: { script: { etag: "e" } } });
    }
    if (path.endsWith("/deployments")) return answer({ deployments: [] });
    return answer(request.method === "GET" ? [] : {});
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { uploads, url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Deploys a configuration, and returns the migrations that it uploads. */
async function migrations(config, deployed) {
  const api = await stub(deployed);
  const folder = await mkdtemp(join(tmpdir(), "signpost-deploy-"));
  try {
    const path = join(folder, "wrangler.toml");
    await writeFile(path, config);
    await writeFile(join(folder, "worker.js"), "export default { fetch() { return new Response(); } };");
    const wrangler = spawn(
      join(ROOT, "node_modules/.bin/wrangler"),
      ["deploy", "--env", "production", "--config", path, "--no-bundle"],
      {
        cwd: folder,
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          CI: "true",
          WRANGLER_SEND_METRICS: "false",
          CLOUDFLARE_API_BASE_URL: `${api.url}/client/v4`,
          CLOUDFLARE_API_TOKEN: "demo-token",
          CLOUDFLARE_ACCOUNT_ID: "demo-account",
        },
      },
    );
    let said = "";
    for (const stream of [wrangler.stdout, wrangler.stderr]) stream.on("data", (text) => (said += text));
    await new Promise((resolve) => wrangler.on("close", resolve));
    assert.equal(api.uploads.length, 1, said);
    return api.uploads[0].migrations;
  } finally {
    api.close();
    await rm(folder, { recursive: true });
  }
}

/** The repository's configuration with a Worker of one line and no build. */
async function configuration() {
  const text = await readFile(join(ROOT, CONFIG), "utf8");
  return text.replace(/main = "[^"]*"/, `main = "./worker.js"`).replace(/\[build\]\ncommand = "[^"]*"\n/, "");
}

const added = (classes) => ({ new_sqlite_classes: classes });

test("a new deployment gets all released classes", async () => {
  const [last] = Object.keys(RELEASED).slice(-1);
  const steps = Object.values(RELEASED).map(added);
  assert.deepEqual(await migrations(await configuration()), { new_tag: last, steps });
});

test("each released tag is as it was released", async () => {
  const text = await configuration();
  const [last] = Object.keys(RELEASED).slice(-1);
  const found = [...text.matchAll(/\[\[migrations\]\]\ntag = "([^"]+)"\nnew_sqlite_classes = (\[[^\]]*\])/g)];
  const tags = Object.fromEntries(found.map(([, tag, classes]) => [tag, JSON.parse(classes)]));
  for (const [tag, classes] of Object.entries(RELEASED)) assert.deepEqual(tags[tag], classes, tag);
  // A deployment that is at the last tag gets no class again.
  assert.equal(await migrations(text, last), undefined);
});

test("a deployment at the tag before gets the classes of the next tag and no other", async () => {
  const [last] = Object.keys(RELEASED).slice(-1);
  const next = '[[migrations]]\ntag = "next"\nnew_sqlite_classes = ["Extra"]\n\n[[kv_namespaces]]';
  const binding = '{ name = "POSTBACKS", class_name = "Postbacks" },';
  const text = (await configuration())
    .replaceAll(binding, `${binding}\n{ name = "EXTRA", class_name = "Extra" },`)
    .replace("[[kv_namespaces]]", next);
  const expected = { old_tag: last, new_tag: "next", steps: [added(["Extra"])] };
  assert.deepEqual(await migrations(text, last), expected);
});
