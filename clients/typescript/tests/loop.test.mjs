// The loop of the README against a running Signpost, with the package that `npm pack` makes, installed into an empty project
// and compiled there by `tsc --strict`. The project sees nothing of this repository.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ROOT } from "../../../tests/browser/support/signpost.mjs";
import { open, sendCallbacks, startLoop } from "../../../tests/clients/signpost.mjs";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const MAX_LOOP_LINES = 25;
const CLICK_SECRET = "a_click_secret_of_this_test_only";

const run = promisify(execFile);
const today = () => new Date().toISOString().slice(0, 10);

/** The loop of the README. */
async function loopText() {
  const readme = await readFile(join(PACKAGE, "README.md"), "utf8");
  const [, loop] = /^```ts\n(.*?)^```$/ms.exec(readme);
  return loop;
}

/** Tries until there is something. */
async function eventually(what, attempt) {
  for (const giveUp = Date.now() + 20_000; Date.now() < giveUp; ) {
    const found = await attempt();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail(`no ${what} within 20 s`);
}

/** A server of Node.js around a route for Requests. */
async function host(route) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, headers, url } = request;
    const body = method === "POST" ? Buffer.concat(chunks) : undefined;
    const answer = await route(new Request(`http://127.0.0.1${url}`, { method, headers, body }));
    response.writeHead(answer.status).end(await answer.text());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/callback`, stop: () => server.close() };
}

let project;
let client;
let loop;
let signpost;
let settings;

before(async () => {
  project = await mkdtemp(join(tmpdir(), "signpost-client-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", project], { cwd: PACKAGE });
  const [packed] = await readdir(project);
  assert.equal(packed, "signpost-client-0.1.0.tgz");
  await writeFile(join(project, "package.json"), '{"name": "empty", "private": true, "type": "module"}');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${packed}`], { cwd: project });
  await writeFile(join(project, "loop.ts"), await loopText());
  ({ signpost, settings } = await startLoop());
});

after(async () => {
  await signpost?.stop();
  await rm(project, { recursive: true, force: true });
});

test("the package has all of its files, no dependencies, and passes tsc --strict", async () => {
  assert.ok((await loopText()).trimEnd().split("\n").length <= MAX_LOOP_LINES);
  const installed = join(project, "node_modules/@signpost/client");
  const { version, dependencies, license } = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
  assert.deepEqual(dependencies, undefined);
  assert.deepEqual((await readdir(installed)).sort(), ["LICENSE", "README.md", "dist", "package.json"]);
  assert.equal(await readFile(join(installed, "LICENSE"), "utf8"), await readFile(join(ROOT, "LICENSE"), "utf8"));
  assert.equal(license, "Apache-2.0");
  await writeFile(
    join(project, "mistakes.ts"),
    `import { Offers, Reports, SignpostError, type CallbackEvent, type ReportRow } from "@signpost/client";
const offers = new Offers({ url: "https://offers.example.com", appId: "10000001", pubKey: "" });
// @ts-expect-error \`region\` is no dimension.
offers.all([{ dim: "region", match: { type: "any", value: ["DE"] } }]);
// @ts-expect-error A report needs a key.
new Reports({ url: "https://reporting.example.com" });
export const amount = (event: CallbackEvent) => (event.status === "pending" ? event.pending_value : event.value);
export const revenue = (row: ReportRow): number => row.revenue ?? 0;
export const status = (error: unknown) => (error instanceof SignpostError ? error.status : undefined);
`,
  );
  const tsc = [join(ROOT, "node_modules/typescript/bin/tsc"), "--strict", "--target", "es2022", "--module", "nodenext"];
  await run("node", [...tsc, "loop.ts", "mistakes.ts"], { cwd: project }).catch((error) => assert.fail(error.stdout));
  loop = await import(pathToFileURL(join(project, "loop.js")));
  client = await import(pathToFileURL(join(installed, "dist/index.js")));
  assert.equal(client.VERSION, version);
});

for (const method of ["GET", "POST"]) {
  test(`the loop of the README runs, with callbacks by ${method}`, async () => {
    const { url, appId, pubKey, token, secret, reportKey, rewardsKey } = settings;
    const store = new client.MemoryStore();
    const receiver = await host(loop.receiver(secret, store));
    try {
      await sendCallbacks(signpost, receiver.url, method);
      const user = `loop-${method}`;
      const { status, clickId } = await open(await loop.link(url, appId, pubKey, user));
      assert.equal(status, 302);

      const first = await loop.convert(url, token, clickId);
      const again = await loop.convert(url, token, clickId);
      assert.deepEqual([first.status, first.duplicate, again.duplicate], ["approved", false, true]);
      assert.equal(again.transaction_id, first.transaction_id);

      const event = await eventually("callback", () => store.events.get(first.transaction_id));
      assert.deepEqual([event.user_id, event.value, event.c1, event.status], [user, 350, "level-7", "approved"]);
      // The same callback again, as after a lost answer.
      await signpost.operator("POST", `/apps/${appId}/conversions/${first.transaction_id}/replay`);
      await eventually("second attempt", async () => {
        const story = await signpost.operator("GET", `/apps/${appId}/conversions/${first.transaction_id}`);
        return story.attempts?.length >= 2;
      });
      assert.equal(store.events.size, 1);

      await eventually("reward in the feed", async () => {
        const read = [];
        for await (const row of loop.read(url, reportKey, rewardsKey, today())) read.push(row);
        assert.ok(read.some((row) => row.app?.name === "Lumen Arcade for Android" && row.revenue > 0));
        const reward = read.find((row) => row.transaction_id === first.transaction_id);
        assert.ok(!reward || (reward.user_id === user && reward.payout === 0.35 && reward.state === "approved"));
        return reward;
      });
    } finally {
      receiver.stop();
    }
  });
}

test("a page of offers is revalidated, and all offers are those of the pages", async () => {
  const offers = new client.Offers(settings);
  const first = await offers.page({ page: 1, size: 5 });
  assert.equal(first.offers.length, 5);
  assert.ok(first.maxAge > 0 && first.maxAge <= 300);
  const second = await offers.page({ page: 1, size: 5 }, { previous: first });
  assert.deepEqual([second.isUnchanged, second.offers], [true, first.offers]);
  assert.equal((await offers.all()).length, first.total);
});

test("refusals of Signpost are errors of their classes", async () => {
  const { url, appId, pubKey, token } = settings;
  await assert.rejects(new client.Offers({ url, appId, pubKey: "0".repeat(32) }).all(), client.Unauthorized);
  await assert.rejects(new client.Offers({ url, appId, pubKey }).page({ page: 0, size: 1 }), client.InvalidRequest);
  await assert.rejects(new client.Conversions({ url, token }).report({ clickId: "nonsense" }), {
    name: "InvalidRequest",
    code: "invalid_click_id",
  });
  await assert.rejects(new client.Rewards({ url, apiKey: settings.reportKey }).page(), client.Forbidden);
  const query = {
    date_range: { start_date: "2020-01-01", end_date: "2020-01-07" },
    dimensions: ["app"],
    metrics: ["revenue"],
  };
  assert.deepEqual(await new client.Reports({ url, apiKey: settings.reportKey }).all(query), []);
});

test("pages of a report add up, and changes of final days can be read", async () => {
  const reports = new client.Reports({ url: settings.url, apiKey: settings.reportKey });
  const query = {
    date_range: { start_date: today(), end_date: today() },
    dimensions: ["app", "country"],
    metrics: ["revenue", "impressions"],
  };
  const whole = await reports.page(query);
  const inPages = await reports.all({ ...query, pagination: { count: Math.ceil(whole.total / 2) } });
  assert.ok(whole.total > 10 && whole.version);
  assert.deepEqual(inPages, whole.rows);
  await assert.rejects(reports.page(query, { version: '"1"' }), client.DataChanged);
  for await (const page of reports.changePages()) assert.equal(page.has_more, false);
});

test("a signed link is redirected, and an unsigned or changed one is not", async () => {
  const { url, appId, pubKey, secret } = settings;
  await sendCallbacks(signpost, "https://play.lumen-arcade.example/callback", "GET", { click_secret: CLICK_SECRET });
  await signpost.operator("POST", "/refresh");
  const unsigned = await loop.link(url, appId, pubKey, "signed-user");
  const base = unsigned.slice(0, unsigned.indexOf("&user_id="));
  await eventually("refusal of an unsigned link", async () => (await open(unsigned)).status === 403);
  const expiresAt = Math.floor(Date.now() / 1000) + 60;
  const signed = await client.signedClickUrl(base, { userId: "signed-user", c1: "a@b" }, CLICK_SECRET, expiresAt);
  assert.equal((await open(signed)).status, 302);
  assert.equal((await open(signed.replace("signed-user", "another-user"))).status, 403);
  assert.equal((await open(await client.signedClickUrl(base, { userId: "u" }, secret))).status, 403);
});
