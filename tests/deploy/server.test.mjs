// Signpost on one server behind nginx: each host has its interface, nginx's limits hold, and a restart loses nothing.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, stat, utimes } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT } from "../browser/support/signpost.mjs";
import { blocks, eventually, FILES, hostOf, NGINX, read, run, Server, sleep } from "./server.mjs";

if (!NGINX) {
  console.log("not done: Signpost behind nginx, which this machine lacks");
  process.exit(0);
}

const APP = "20000001";
const goal = (id) => ({ id, ttl: "Play", instr: "1. Play", payout_usd: 1, ord: 1, gl_val: "play" });
const offer = (id, include) => ({
  advertiser_id: "quiet-harbor",
  off_type: "CPE",
  s_id: `com.quietharbor.${id}`,
  name: "Tides",
  lp_url: "https://quiet-harbor.example/tides",
  // Once it is filled in, it is longer than the 4 KiB that nginx reserves for the head of an answer.
  target_url: `https://go.quiet-harbor.example/c?clickid={click_id}${"&c1={c1}".repeat(30)}`,
  ic_url: "https://static.quiet-harbor.example/tides.png",
  desc: "Sail home before the tide turns.",
  ctg: ["GAMING"],
  os: "android",
  geo_tgt: { include, exclude: [] },
  goals: [goal(`${id}01`)],
  active: true,
});
const EVERYWHERE = "91001";
const IN_GERMANY = "91002";

const click = (offer, user) => `/v2/tracking/click?rid=${offer}01&app=${APP}&user_id=${user}`;

let server;
let token;

before(async () => {
  server = await Server.install();
  await server.start();
  await server.operator("PUT", "publishers/kite-games", { name: "Kite Games", approved: true });
  const currency = { name: "Coins", per_usd: 1000, decimals: 0, rounding: "down" };
  const app = { publisher_id: "kite-games", name: "Kite Racer", platform: "android", currency };
  await server.operator("PUT", `apps/${APP}`, app);
  await server.operator("PUT", "advertisers/quiet-harbor", { name: "Quiet Harbor" });
  ({ token } = await server.operator("POST", "advertisers/quiet-harbor/token"));
  await server.operator("PUT", `offers/${EVERYWHERE}`, offer(EVERYWHERE, []));
  await server.operator("PUT", `offers/${IN_GERMANY}`, offer(IN_GERMANY, ["DE"]));
  await server.operator("POST", "refresh");
});
after(() => server?.stop());

test("the example has each setting of both Workers", async () => {
  const workers = await readFile(join(ROOT, "fixtures/local/workerd.capnp"), "utf8");
  const settings = new Set([...workers.matchAll(/fromEnvironment = "([A-Z_]+)"/g)].map(([, name]) => name));
  const named = [...(await read("signpost.env.example")).matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
  assert.deepEqual(named.sort(), [...settings].sort());
});

test("secrets are drawn once, and stay", async () => {
  const first = { ...server.settings };
  for (const [name, value] of Object.entries(first)) assert.ok(value, `${name} is empty`);
  await run(server.at("opt/current/fixtures/server/secrets.sh"), [server.at("etc/signpost.env")]);
  await server.readSettings();
  assert.deepEqual(server.settings, first);
  // They are nobody else's to read.
  assert.equal((await stat(server.at("etc/signpost.env"))).mode & 0o777, 0o600);
});

test("the units are valid", async () => {
  const units = ["signpost.socket", "signpost.service", "signpost-backup.service", "signpost-backup.timer"];
  for (const unit of units) await server.write(unit);
  const { stdout, stderr } = await run("systemd-analyze", ["verify", ...units.map((unit) => server.at(unit))]);
  assert.equal(stdout + stderr, "");
});

test("the guide's commands are valid, and its invite leads to the console", async () => {
  for (const { text } of await blocks()) await run("bash", ["-nc", text]);
  const { url } = JSON.parse(await server.follow("5. Start"));
  assert.match(url, /^https:\/\/operator\.signpost\.test\/console#invite=/);
});

test("a backup is made while Signpost runs, and an old one is removed", async (context) => {
  const program = join(ROOT, "fixtures/local/backup.py");
  if (!existsSync(program)) return context.diagnostic(`not done: there is no ${program}`);
  const [old, recent, other] = ["2020-01-01T000000Z", "2020-01-02T000000Z", "notes"];
  for (const name of [old, recent, other]) await mkdir(server.at(`backups/${name}`));
  const long = new Date(Date.now() - 16 * 86_400_000);
  for (const name of [old, other]) await utimes(server.at(`backups/${name}`), long, long);
  const unit = await server.placed("signpost-backup.service");
  const [, command] = /^ExecStart=(.*)$/m.exec(unit);
  const [, days] = /^Environment=(.*)$/m.exec(unit);
  await run("bash", ["-euc", `${days}; ${command}`]);
  const [made, ...others] = (await readdir(server.at("backups")))
    .sort()
    .reverse()
    .filter((name) => name !== other);
  assert.deepEqual(others, [recent]);
  await stat(server.at(`backups/${made}/manifest.json`));
});

test("each host answers for its own interface, and no other name is answered", async () => {
  const offers = "/v1/offer/api";
  const reports = "/v1/core/reporting/public/signal/report/generate";
  const own = [
    ["click", "GET", "/v2/tracking/click", 400],
    ["offers", "POST", offers, 401],
    ["reports", "POST", reports, 415],
    ["operator", "GET", "/v1/operator/publishers", 401],
    ["dashboard", "GET", "/dashboard", 200],
  ];
  for (const [service] of own) {
    for (const [other, method, path, status] of own) {
      const answer = await server.send(service, method, path);
      const expected = service === other ? [status] : [404, 405, 421];
      assert.ok(expected.includes(answer.status), `${service} ${path}: ${answer.status} ${answer.text}`);
    }
  }
  await assert.rejects(server.send("other", "GET", "/healthz"), /unrecognized name|handshake|alert/i);
  const plain = await new Promise((resolve) => {
    const address = { host: "127.0.0.1", port: server.plainPort, headers: { Host: hostOf("click") } };
    get({ ...address, path: "/v2/tracking/click?a=b" }, (answer) => resolve(answer.resume()));
  });
  assert.equal(plain.statusCode, 308);
  assert.equal(plain.headers.location, `https://${hostOf("click")}/v2/tracking/click?a=b`);
});

test("a client's own country and ray are replaced", async () => {
  const claimed = { "CF-IPCountry": "DE", "CF-Ray": "invented" };
  const abroad = await server.send("click", "GET", click(IN_GERMANY, "abroad"), { headers: claimed });
  assert.notEqual(abroad.status, 302, abroad.text);
  assert.match(abroad.headers["cf-ray"], /^[0-9a-f]{16}$/);
  const claims = { headers: { "CF-IPCountry": "FR" }, from: "127.0.0.2" };
  const inside = await server.send("click", "GET", click(IN_GERMANY, "inside"), claims);
  assert.equal(inside.status, 302, inside.text);
  const headers = { ...claimed, Authorization: `Bearer ${server.settings.OPERATOR_TOKEN}` };
  const call = await server.send("operator", "POST", "/v1/operator/refresh", { headers });
  await eventually("the ray in the log", async () => server.log.includes(`"ray":"${call.headers["cf-ray"]}"`));
});

test("a long redirect passes", async () => {
  const answer = await server.send("click", "GET", `${click(EVERYWHERE, "long")}&c1=${"y".repeat(200)}`);
  assert.equal(answer.status, 302, answer.text);
  assert.ok(answer.headers.location.length > 5_000);
});

test("a body at the limit of its path passes, and a larger one is refused", async () => {
  const KIB = 1024;
  const limits = [
    ["click", "POST", "/v2/tracking/conversion", 16 * KIB],
    ["offers", "POST", "/v1/offer/api", 64 * KIB],
    ["reports", "POST", "/v1/core/reporting/public/signal/report/generate", 256 * KIB],
    ["operator", "PUT", "/v1/operator/publishers/kite-games", KIB * KIB],
    ["operator", "POST", "/v1/operator/import", 64 * KIB * KIB],
    ["operator", "PUT", "/v1/operator/publishers/kite-games/facts/2026-11-03", 64 * KIB * KIB],
  ];
  for (const [service, method, path, limit] of limits) {
    const send = (size) => server.send(service, method, path, { body: Buffer.alloc(size, "x") });
    const [at, above] = [await send(limit), await send(limit + 1)];
    assert.notEqual(at.status, 413, `${path}: ${at.text}`);
    assert.deepEqual([above.status, JSON.parse(above.text).code], [413, "payload_too_large"], path);
  }
});

test("clicks of one address are limited, and those of others are not", async () => {
  const client = server.client("127.0.0.9");
  const statuses = [];
  for (let count = 0; count < 100; count += 1) {
    statuses.push(await client.send("click", "GET", click(EVERYWHERE, `flood-${count}`)));
  }
  client.close();
  const refused = statuses.filter(({ status }) => status === 429);
  assert.ok(refused.length > 10, `${refused.length} of ${statuses.length}`);
  assert.equal(JSON.parse(refused[0].text).code, "rate_limit_exceeded");
  assert.equal(refused[0].headers["retry-after"], "1");
  const other = await server.send("click", "GET", click(EVERYWHERE, "other"), { from: "127.0.0.10" });
  assert.equal(other.status, 302);
});

/** Clicks and postbacks of one client after the other, until they have to end. */
async function load(number, named, counts, isOver) {
  const client = server.client(`127.0.1.${number + 1}`);
  const timed = async (...sent) => {
    const begun = Date.now();
    const answer = await client.send(...sent).catch((error) => ({ status: error.code, text: "" }));
    counts.longest = Math.max(counts.longest, Date.now() - begun);
    const kind = `${sent[1]} ${sent[2].split("?")[0].split("/").at(-1)} ${answer.status}`;
    counts.answers[kind] = (counts.answers[kind] ?? 0) + 1;
    return answer;
  };
  for (let user = 0; !isOver(); user += 1) {
    const begun = Date.now();
    const clicked = await timed("click", "GET", click(EVERYWHERE, `${named}-${number}-${user}`));
    if (clicked.status !== 302) continue;
    const id = new URL(clicked.headers.location).searchParams.get("clickid");
    const postback = `/v2/tracking/conversion?click_id=${id}&token=${token}`;
    const answer = await timed("click", user % 2 ? "GET" : "POST", postback);
    if (answer.status === 200) counts.accepted.push(JSON.parse(answer.text).transaction_id);
    // nginx lets ten clicks a second of each address pass.
    await sleep(Math.max(0, 110 - (Date.now() - begun)));
  }
  client.close();
}

/** The transaction ids of the app's log. */
async function logged() {
  const ids = [];
  for (let cursor = ""; cursor !== undefined; ) {
    const page = await server.operator("GET", `apps/${APP}/conversions?limit=1000${cursor && `&cursor=${cursor}`}`);
    ids.push(...page.conversions.map((entry) => entry.transaction_id));
    cursor = page.cursor ?? undefined;
  }
  return ids;
}

test("workerd restarts under load, and no accepted conversion is lost", async () => {
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    const counts = { answers: {}, longest: 0, accepted: [] };
    let over = false;
    const clients = Array.from({ length: 32 }, (_, number) => load(number, signal, counts, () => over));
    for (let restart = 0; restart < 3; restart += 1) {
      await sleep(1_000);
      await server.restart(signal);
    }
    await sleep(1_000);
    over = true;
    await Promise.all(clients);
    console.log(`three times ${signal}: ${JSON.stringify(counts.answers)}, the slowest in ${counts.longest} ms`);
    const ids = await logged();
    assert.equal(new Set(ids).size, ids.length);
    const total = Object.values(counts.answers).reduce((sum, count) => sum + count, 0);
    // A kill cuts off a few answers, whose senders retry.
    const failed = total - (counts.answers["GET click 302"] ?? 0) - counts.accepted.length;
    assert.ok(failed * 20 < total, `${failed} of ${total} requests`);
    assert.deepEqual(
      counts.accepted.filter((id) => !ids.includes(id)),
      [],
    );
  }
});

/** The program that builds containers on this machine, if one works. */
async function containerTool() {
  for (const tool of ["podman", "docker"]) {
    const works = await run(tool, ["info"], { timeout: 10_000 }).then(
      () => true,
      () => false,
    );
    if (works) return tool;
  }
}

test("the image is built and answers", async () => {
  const tool = await containerTool();
  if (!tool) return console.log("not done: an image of the Containerfile, which needs podman or docker");
  const context = server.at("image");
  await mkdir(context);
  await copyFile(server.at("signpost.tar.gz"), join(context, "signpost.tar.gz"));
  await run(tool, ["build", "-f", join(FILES, "Containerfile"), "-t", "signpost-test", context]);
  const settings = ["--env-file", server.at("etc/signpost.env")];
  const { stdout } = await run(tool, ["run", "--rm", "--detach", ...settings, "signpost-test"]);
  const inside = ["exec", stdout.trim(), "sh", "-c"];
  const check = 'curl -fsS --retry 20 --retry-connrefused -H "Host: $OPERATOR_HOST" http://127.0.0.1:8788/healthz';
  try {
    const answer = await run(tool, [...inside, check]);
    assert.equal(JSON.parse(answer.stdout).status, "ok");
    assert.equal((await run(tool, [...inside, "id -un"])).stdout.trim(), "signpost");
  } finally {
    await run(tool, ["stop", stdout.trim()]);
  }
});
