// A released tag of `src/origin/wrangler.toml` never changes, and a deployment gets each set of added classes once.
// `wrangler deploy` runs against a stub of Cloudflare's API, which says at which tag the deployed Worker is.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { ROOT, runWith, startCloudflare } from "./cloudflare.mjs";

const CONFIG = "src/origin/wrangler.toml";

/** The tags of each release. Another set of classes gets a tag of its own; none of these changes. */
const RELEASED = {
  v1: ["Catalog", "Counters", "Clicks", "Ledger", "Outbox", "Accounts", "Activity", "Postbacks"],
};

/** Deploys a configuration to an account whose Worker is at this tag, and returns the migrations that it uploads. */
async function migrations(config, deployed) {
  const api = await startCloudflare(deployed && { "signpost-origin": { tag: deployed } });
  const folder = await mkdtemp(join(tmpdir(), "signpost-deploy-"));
  try {
    const path = join(folder, "wrangler.toml");
    await writeFile(path, config);
    await writeFile(join(folder, "worker.js"), "export default { fetch() { return new Response(); } };");
    const args = ["deploy", "--env", "production", "--config", path, "--no-bundle"];
    const { output } = await runWith(api, join(ROOT, "node_modules/.bin/wrangler"), args, { cwd: folder });
    assert.equal(api.uploads.length, 1, output);
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
