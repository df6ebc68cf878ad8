// The commands of docs/OPERATING.md as a newcomer runs them, one after the other: a first deployment to a stub of
// Cloudflare's API, an upgrade, a rollback; and on plain workerd a backup and a restore.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { answerOf } from "../../src/deploy/preflight.mjs";
import { readSettings } from "../../src/deploy/settings.mjs";
import { newCheckout } from "./checkout.mjs";
import { ROOT, runWith, startCloudflare } from "./cloudflare.mjs";
import { startWorkers } from "./workers.mjs";

/** The commands in the text of a section, each once. */
async function commandsOf(title) {
  const document = await readFile(join(ROOT, "docs/OPERATING.md"), "utf8");
  const [, section] = document.match(new RegExp(`^#+ ${title}\\n(.*?)^##`, "ms"));
  const found = section
    .replaceAll(/\s+/g, " ")
    .matchAll(/`(make (?:deploy|secrets|preflight|rollback|backup|restore)[^`]*)`/g);
  return [...new Set([...found].map(([, command]) => command))];
}

const DEPLOYING = [
  "make secrets TO=secrets.env",
  "make secrets FROM=secrets.env",
  "make deploy PLAN=paid",
  "make deploy",
  "make preflight",
];
const UPGRADING = ["make deploy", "make rollback TO=commit"];
const BACKING_UP = ["make backup TO=folder STATE=…", "make restore FROM=folder STATE=new"];

test("the commands of OPERATING deploy, upgrade, roll back, back up and restore", async (context) => {
  assert.deepEqual(await commandsOf("Deploying"), DEPLOYING);
  assert.deepEqual(await commandsOf("Upgrading"), UPGRADING);
  assert.deepEqual(await commandsOf("Backup and restore"), BACKING_UP);

  const checkout = await newCheckout();
  context.after(() => checkout.remove());
  const { vars } = readSettings(checkout.folder).origin;
  const workers = await startWorkers(vars);
  context.after(() => workers.stop());
  const api = await startCloudflare({});
  context.after(() => api.close());
  const { OPERATOR_TOKEN, METRICS_TOKEN } = workers.secrets;
  const environment = ({ edge, origin }) => ({
    OPERATOR_TOKEN,
    METRICS_TOKEN,
    PREFLIGHT_EDGE: edge,
    PREFLIGHT_ORIGIN: origin,
    PREFLIGHT_SECONDS: "20",
  });
  const run = async (command, make) => {
    const { code, output } = await make(command.split(" ").slice(1));
    assert.equal(code, 0, `${command}\n${output}`);
  };
  const ask = (from, method, path, body) => {
    const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}`, "Content-Type": "application/json" };
    return answerOf(new URL(`/v1/operator/${path}`, from.origin), vars.OPERATOR_HOST, { method, headers, body });
  };

  const inCheckout = (args) => checkout.make(api, args, environment(workers));
  const first = await checkout.commit();
  for (const command of DEPLOYING) await run(command, inCheckout);
  await checkout.change("CHANGELOG.md", (text) => `${text}\n`);
  await checkout.commit();
  for (const command of UPGRADING) await run(command.replace("=commit", `=${first}`), inCheckout);
  for (const worker of api.workers.values()) {
    const { annotations } = worker.versions.find(({ id }) => id === worker.deployed);
    assert.equal(annotations["workers/tag"], first);
  }

  const put = await ask(workers, "PUT", "publishers/kite-games", '{"name":"Kite Games","approved":true}');
  assert.equal(put.status, 200, put.text);
  const folder = await mkdtemp(join(tmpdir(), "signpost-backup-"));
  context.after(() => rm(folder, { recursive: true }));
  const here = (text) =>
    text
      .replace("=folder", `=${join(folder, "backup")}`)
      .replace("=…", `=${workers.folder}`)
      .replace("=new", `=${join(folder, "state")}`);
  for (const command of BACKING_UP)
    await run(here(command), (args) => runWith(api, "make", args, { cwd: ROOT, env: {} }));
  const restored = await startWorkers(vars, join(folder, "state"));
  const kept = await ask(restored, "GET", "publishers/kite-games");
  const checked = await checkout.make(api, ["preflight"], environment(restored));
  await restored.stop();
  assert.equal(JSON.parse(kept.text).name, "Kite Games", kept.text);
  assert.equal(checked.code, 0, checked.output);
});
