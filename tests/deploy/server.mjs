// Signpost as on a server (docs/guides/ONE-SERVER.md), from the files of fixtures/server: an archive, sockets that
// systemd's own tool opens, workerd as the unit starts it, and nginx with a certificate of its own. Folders, ports and
// hosts are a test's.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, ROOT } from "../browser/support/signpost.mjs";

const programOf = (name) => process.env.PATH.split(":").find((folder) => existsSync(join(folder, name)));
/** The machine's nginx, or the one that `make verify` has unpacked. */
const NGINX = programOf("nginx") ? "nginx" : join(ROOT, ".tools/nginx");
/** The programs of this test that the machine lacks. */
export const MISSING = [
  ...["openssl", "systemd-analyze", "systemd-socket-activate"].filter((name) => !programOf(name)),
  ...(NGINX === "nginx" || existsSync(NGINX) ? [] : ["nginx"]),
];
/** Whether this machine has the address ::1. */
export const HAS_IPV6 =
  existsSync("/proc/net/if_inet6") && /^0{31}1 /m.test(readFileSync("/proc/net/if_inet6", "utf8"));
/** The folders that nginx would otherwise expect in /var. */
const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
/** A test may be at any address: nginx reads it from this header. */
const ADDRESS = "set_real_ip_from 127.0.0.0/8; real_ip_header X-Test-Address;\n";

export const FILES = join(ROOT, "fixtures/server");
export const run = promisify(execFile);
export const read = (file) => readFile(join(FILES, file), "utf8");

export const hostOf = (service) => `${service}.signpost.test`;
const HOSTS = ["click", "offers", "reports", "operator", "dashboard"].map(hostOf);

/** Replaces texts of a file, each of which must be there. */
function replaced(text, replacements) {
  return replacements.reduce((result, [from, to]) => {
    assert.ok(result.includes(from), `no ${from}`);
    return result.replaceAll(from, to);
  }, text);
}

/** The blocks of commands in the guide, each with the title of its section. */
export async function blocks() {
  const guide = await readFile(join(ROOT, "docs/guides/ONE-SERVER.md"), "utf8");
  return guide.split(/^## /m).flatMap((part) => {
    const section = part.slice(0, part.indexOf("\n"));
    return [...part.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => ({ section, text }));
  });
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function eventually(what, attempt) {
  for (const giveUp = Date.now() + 20_000; ; ) {
    const answer = await attempt().catch((error) => ({ error }));
    if (answer && !answer.error) return answer;
    assert.ok(Date.now() < giveUp, `${what}: ${answer?.error}`);
    await sleep(50);
  }
}

export class Server {
  #processes = [];
  #stubs = [];
  settings = {};
  log = "";

  /** Folders in which nothing runs yet. */
  static async create() {
    const server = new Server();
    // An interrupted run ends its processes, too.
    process.once("exit", () => server.#processes.forEach((child) => void server.#end(child)));
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
    server.folder = await mkdtemp(join(tmpdir(), "signpost-server-"));
    await chmod(server.folder, 0o755);
    // As the units and the guide name the folders, and as they are here.
    server.places = [
      ["/opt/signpost", server.at("opt")],
      ["/var/lib/signpost-backups", server.at("backups")],
      ["/var/lib/signpost", server.at("state")],
      ["/run/signpost", server.at("run")],
      ["/etc/signpost", server.at("etc")],
    ];
    const folders = ["etc", "state", "state/kv", "state/objects", "backups", "run"];
    for (const name of folders) await mkdir(server.at(name));
    return server;
  }

  /** nginx in front of a function that answers in place of both Workers. */
  static async stub(answer) {
    const server = await Server.create();
    for (const name of ["edge", "origin"]) {
      const [listening, path] = [createServer(answer), server.at(`run/${name}.sock`)];
      await new Promise((resolve) => listening.listen({ path, writableAll: true }, resolve));
      server.#stubs.push(listening);
    }
    await server.startNginx();
    await eventually("nginx", async () => (await server.send("click", "GET", "/healthz")).status === 200);
    return server;
  }

  /** Follows the guide until Signpost can start. */
  static async install() {
    const server = await Server.create();
    await run(join(FILES, "pack.sh"), [server.at("signpost.tar.gz")]);
    // The test installs no package and adds no user.
    await server.follow("2. Install", (line) => !/^(apt-get|useradd) /.test(line));
    await server.follow("3. Write the settings");
    await server.readSettings();
    return server;
  }

  at(name) {
    return join(this.folder, name);
  }

  /** A file of fixtures/server with this test's folders. */
  async placed(file) {
    return this.here(await read(file));
  }

  here(text) {
    return this.places.reduce((result, [from, to]) => result.replaceAll(from, to), text);
  }

  /** Writes a file of fixtures/server with this test's folders. */
  async write(file) {
    await writeFile(this.at(file), await this.placed(file));
  }

  /** Runs the commands of the last block in a section of the guide. */
  async follow(section, isRun = () => true) {
    const block = (await blocks()).findLast((block) => block.section === section);
    const lines = block.text.split("\n").filter(isRun).join("\n");
    const commands = this.here(lines).replaceAll("example.org", "signpost.test");
    // The names of the hosts lead to nginx.
    const curl = `curl() { command curl --cacert ${this.at("etc/certificate.pem")} \
      --connect-to ::127.0.0.1:${this.port} "$@"; }`;
    const { stdout } = await run("bash", ["-euc", `${curl}\n${commands}`], { cwd: this.folder });
    return stdout;
  }

  async readSettings() {
    const lines = (await readFile(this.at("etc/signpost.env"), "utf8")).split("\n");
    const set = lines.filter((line) => /^[A-Z]/.test(line));
    this.settings = Object.fromEntries(set.map((line) => line.split(/=(.*)/s, 2)));
  }

  async start() {
    await this.#startWorkerd();
    await this.startNginx();
    await eventually("Signpost", async () => (await this.send("operator", "GET", "/healthz")).status === 200);
  }

  /** As systemd does it: the sockets stay open, and the unit's command starts again whenever it ends. */
  async #startWorkerd() {
    const unit = (await this.placed("signpost.service")).replaceAll("\\\n", " ");
    const [, command] = /^ExecStart=(.*)$/m.exec(unit);
    const [, settings] = /^EnvironmentFile=(.*)$/m.exec(unit);
    const loop = `set -a; . ${settings}; set +a
      while :; do ${command} & echo $! >${this.at("workerd.pid")}; wait $!; done`;
    const sockets = [...(await this.placed("signpost.socket")).matchAll(/^ListenStream=(.*)$/gm)];
    const listens = sockets.flatMap(([, path]) => ["--listen", path]);
    this.#spawn("systemd-socket-activate", [...listens, "bash", "-c", loop]);
    await eventually("the sockets", () => run("test", ["-S", sockets.at(-1)[1]]));
    for (const [, path] of sockets) await chmod(path, 0o666);
  }

  async startNginx() {
    const [key, certificate] = [this.at("etc/key.pem"), this.at("etc/certificate.pem")];
    const names = HOSTS.map((host) => `DNS:${host}`).join(",");
    const subject = ["-subj", "/CN=signpost.test", "-addext", `subjectAltName=${names}`];
    const files = ["-keyout", key, "-out", certificate];
    await run("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...files]);
    this.certificate = await readFile(certificate);
    [this.port, this.plainPort] = [await freePort(), await freePort()];
    const config = replaced(await this.placed("nginx.conf"), [
      ["user www-data;\n", ""],
      ["pid /run/nginx.pid", `pid ${this.at("nginx.pid")}`],
      ["/var/log/nginx", this.folder],
      // Modules of the machine are not under test.
      ["include /etc/nginx/modules-enabled/*.conf;\n", ""],
      ["http {\n", `http {\n${TEMPORARY.map((name) => `${name}_temp_path ${this.at(name)};\n`).join("")}${ADDRESS}`],
      ["/etc/letsencrypt/live/signpost/fullchain.pem", certificate],
      ["/etc/letsencrypt/live/signpost/privkey.pem", key],
      ["listen 443", `listen 127.0.0.1:${this.port}`],
      ["listen 80", `listen 127.0.0.1:${this.plainPort}`],
      ["listen [::]:443", `listen ${HAS_IPV6 ? "[::1]" : "127.0.0.2"}:${this.port}`],
      ["listen [::]:80", `listen ${HAS_IPV6 ? "[::1]" : "127.0.0.2"}:${this.plainPort}`],
      ["example.com", "signpost.test"],
      ['geo $country { default ""; }', 'geo $country { default ""; 127.0.0.2 DE; }'],
    ]);
    await writeFile(this.at("nginx.conf"), config);
    await run(NGINX, ["-t", "-p", this.folder, "-c", this.at("nginx.conf")]);
    this.#spawn(NGINX, ["-p", this.folder, "-c", this.at("nginx.conf"), "-g", "daemon off;"]);
  }

  #spawn(program, words) {
    const child = spawn(program, words, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (this.log += text));
    this.#processes.push(child);
  }

  /** Ends the processes of a child's own group. */
  #end(child) {
    try {
      process.kill(-child.pid, "SIGTERM");
    } catch {
      // It has ended.
    }
  }

  async stop() {
    for (const child of this.#processes) {
      const ended = child.exitCode ?? child.signalCode ?? new Promise((resolve) => child.once("exit", resolve));
      this.#end(child);
      await ended;
    }
    this.#processes = [];
    for (const listening of this.#stubs) listening.close();
    // workerd may still write while it ends.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Ends workerd; it starts again as after `systemctl restart`. */
  restart(signal) {
    const kill = async () => process.kill(Number(await readFile(this.at("workerd.pid"), "utf8")), signal);
    return eventually("a workerd to end", kill);
  }

  /** Sends a request to a host through nginx. `from` is the client's address: ::1, or one of 127.0.0.0/8. */
  send(service, method, path, { headers = {}, body, from = "127.0.0.1", agent } = {}) {
    const host = hostOf(service);
    const to = from === "::1" ? from : "127.0.0.1";
    const address = { host: to, port: this.port, servername: host, localAddress: from, ca: this.certificate };
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const sent = request(
        { ...address, agent, method, path, headers: { Host: host, ...length, ...headers } },
        async (answer) => {
          const parts = await answer.toArray().catch(reject);
          if (!parts) return;
          resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(parts).toString() });
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** A client with connections of its own that stay open. */
  client(from) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    return {
      send: (service, method, path, more) => this.send(service, method, path, { ...more, from, agent }),
      close: () => agent.destroy(),
    };
  }

  /** A call of the operator, which must succeed. */
  async operator(method, path, document) {
    const headers = { Authorization: `Bearer ${this.settings.OPERATOR_TOKEN}` };
    const sent = { headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(document) };
    const answer = await this.send("operator", method, `/v1/operator/${path}`, document ? sent : { headers });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  }
}
