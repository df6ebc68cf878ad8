// Signpost on one server behind nginx: each host has its interface, nginx's limits hold, and a restart loses nothing.

import assert from "node:assert/strict";
import { copyFile, mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ROOT } from "../browser/support/signpost.mjs";
import { blocks, eventually, FILES, HAS_IPV6, hostOf, MISSING, read, run, Server, sleep } from "./server.mjs";

if (MISSING.length) {
  console.log(`not done: Signpost behind nginx, because this machine lacks ${MISSING.join(", ")}`);
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

/** The id of a request, in its answer and in the log. */
const RAY = /^[0-9a-f]{16}$/;

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

test("a last line without a line feed stays, and its secret is drawn", async () => {
  for (const [last, expected] of [
    ["LOCAL_SIGN_IN=false", /^LOCAL_SIGN_IN=false$/],
    ["ACCOUNT_MAC=", /^ACCOUNT_MAC=[0-9a-f]{64}$/],
  ]) {
    const file = server.at("etc/unended.env");
    await writeFile(file, `# Settings\n\nTOKEN_MAC=kept\n${last}`);
    await run(join(FILES, "secrets.sh"), [file]);
    const lines = (await readFile(file, "utf8")).split("\n");
    assert.deepEqual(lines.slice(0, 3), ["# Settings", "", "TOKEN_MAC=kept"]);
    assert.match(lines[3] ?? "", expected);
    assert.deepEqual(lines.slice(4), [""]);
  }
});

test("without the programs that it needs, this test says so", async () => {
  const words = [fileURLToPath(import.meta.url)];
  const { stdout } = await run(process.execPath, words, { env: { PATH: server.at("etc") } });
  assert.match(stdout, /^not done: .*openssl, systemd-analyze, systemd-socket-activate/);
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

/** Runs the backups' command, and returns the names of the folders that there are then. */
async function backUp(state = server.at("state")) {
  const unit = await server.placed("signpost-backup.service");
  const [, command] = /^ExecStart=(.*)$/m.exec(unit);
  const [, days] = /^Environment=(.*)$/m.exec(unit);
  const result = await run("bash", ["-euc", `${days}; ${command.replace(server.at("state"), state)}`]).catch(
    (error) => error,
  );
  return { result, names: (await readdir(server.at("backups"))).sort() };
}

/** A folder that is as old as a number of days, and looks like a backup. */
async function oldBackup(name, days, isComplete) {
  const folder = server.at(`backups/${name}`);
  await mkdir(folder);
  if (isComplete) await writeFile(join(folder, "manifest.json"), "{}");
  const then = new Date(Date.now() - days * 86_400_000);
  await utimes(folder, then, then);
}

test("a failed backup is continued, and old ones are removed, but never the newest complete one", async () => {
  const [expired, complete, failed, newest] = [1, 2, 3, 4].map((day) => `2020-01-0${day}T000000Z`);
  await oldBackup(expired, 15, true);
  await oldBackup(complete, 15, true);
  await oldBackup(failed, 1, false);
  await oldBackup(newest, 1, false);
  await oldBackup("notes", 15, false);
  const attempt = await backUp(server.at("nothing"));
  assert.match(attempt.result.stderr, /is not where Signpost keeps its state/);
  assert.deepEqual(attempt.names, [complete, newest, "notes"]);
  const second = await backUp();
  assert.equal(second.result.code, undefined, second.result.stderr);
  assert.deepEqual(second.names, [complete, newest, "notes"]);
  await stat(server.at(`backups/${newest}/manifest.json`));
  // The next one is new, and the old one is not needed any more.
  const third = await backUp();
  assert.deepEqual([third.names[0], third.names.length, third.names.at(-1)], [newest, 3, "notes"]);
  assert.match(third.names[1], /^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z$/);
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
  assert.match(abroad.headers["cf-ray"], RAY);
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
    assert.match(above.headers["cf-ray"], RAY);
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
  assert.match(refused[0].headers["cf-ray"] ?? "", RAY);
  const other = await server.send("click", "GET", click(EVERYWHERE, "other"), { from: "127.0.0.10" });
  assert.equal(other.status, 302);
});

test("the addresses of an IPv6 network count as one", async () => {
  const statuses = async (addressOf) => {
    const client = server.client("127.0.0.1");
    const answers = [];
    for (let count = 0; count < 100; count += 1) {
      const headers = { "X-Test-Address": addressOf(count.toString(16)) };
      answers.push((await client.send("click", "GET", click(EVERYWHERE, "network"), { headers })).status);
    }
    client.close();
    return answers.filter((status) => status === 429).length;
  };
  // nginx shortens the zeros of an address in each of its ways.
  const forms = (host) => [`2001:db8::${host}`, `2001:db8::${host}:0:0:1`, `2001:db8:0:0:1:2:3:${host}`];
  assert.ok((await statuses((host) => forms(host)[parseInt(host, 16) % 3])) > 10);
  assert.equal(await statuses((network) => `2001:db8:1:${network}::1`), 0);
});

test("nginx listens on IPv6 too", async () => {
  if (!HAS_IPV6) return console.log("not done: a request over IPv6, which this machine lacks");
  assert.equal((await server.send("click", "GET", "/healthz", { from: "::1" })).status, 200);
});

/** Requests that may arrive twice, and changes, which may not. */
const TWICE = [
  ["click", "GET", "/v2/tracking/click"],
  ["click", "GET", "/v2/tracking/conversion"],
  ["click", "POST", "/v2/tracking/conversion"],
  ["offers", "POST", "/v1/offer/api"],
  ["operator", "GET", "/v1/operator/publishers"],
  ["dashboard", "GET", "/dashboard"],
];
const ONCE = [
  ["operator", "PUT", "/v1/operator/publishers/kite-games"],
  ["operator", "DELETE", "/v1/operator/publishers/kite-games"],
  ["operator", "PUT", "/v1/operator/publishers/kite-games/facts/2026-11-03"],
  ["operator", "POST", "/v1/operator/import"],
  ["dashboard", "PUT", "/dashboard/api/apps/20000001"],
];

test("nginx repeats a request whose connection closes, but no change", async (context) => {
  const arrived = {};
  const stubbed = await Server.stub(async (request, answer) => {
    const body = Buffer.concat(await request.toArray()).toString();
    arrived[body] = (arrived[body] ?? 0) + 1;
    if (request.url !== "/healthz" && arrived[body] === 1) return request.socket.destroy();
    answer.end("again");
  });
  context.after(() => stubbed.stop());
  // nginx treats a connection that is kept alive differently from a new one.
  for (const isKept of [false, true]) {
    for (const [times, status, rows] of [
      [1, 503, ONCE],
      [2, 200, TWICE],
    ]) {
      for (const [service, method, path] of rows) {
        const client = stubbed.client("127.0.0.1");
        if (isKept) await client.send(service, "GET", "/healthz");
        const body = `${isKept ? "kept" : "new"} ${service} ${method} ${path}`;
        const answer = await client.send(service, method, path, { body });
        client.close();
        assert.deepEqual([body, arrived[body], answer.status], [body, times, status]);
        assert.match(answer.headers["cf-ray"] ?? "", RAY, body);
      }
    }
  }
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
  // A kill cuts off a few answers, whose senders retry.
  for (const [signal, share] of [
    ["SIGTERM", 0.005],
    ["SIGKILL", 0.05],
  ]) {
    const counts = { answers: {}, longest: 0, accepted: [] };
    let over = false;
    const clients = Array.from({ length: 32 }, (_, number) => load(number, signal, counts, () => over));
    for (let restart = 0; restart < 3; restart += 1) {
      await sleep(1_000);
      await server.restart(signal);
      // The next signal must not meet a request for the second time.
      await eventually("workerd", async () => (await server.send("click", "GET", "/healthz")).status === 200);
    }
    await sleep(1_000);
    over = true;
    await Promise.all(clients);
    console.log(`three times ${signal}: ${JSON.stringify(counts.answers)}, the slowest in ${counts.longest} ms`);
    const ids = await logged();
    assert.equal(new Set(ids).size, ids.length);
    const total = Object.values(counts.answers).reduce((sum, count) => sum + count, 0);
    const failed = total - (counts.answers["GET click 302"] ?? 0) - counts.accepted.length;
    assert.ok(failed < total * share, `${failed} of ${total} requests`);
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
