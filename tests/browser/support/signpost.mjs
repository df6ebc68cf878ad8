// Signpost for one test file: workerd with the real Workers, its state in a folder that is removed at the end.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { demoFacts, today } from "./facts.mjs";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const DEMO = "lumen-arcade";

/** As people's browsers have it: without a screen, Chromium names itself otherwise. */
export const USER_AGENT =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

const START_MILLISECONDS = 30_000;

/** The folders of a state, each a service of the configuration. */
const STATE = ["kv", "objects"];

/** The publisher of the current one of a browser's sessions. A publisher's ID has no `_`. */
export const publisherOf = (sessions) => sessions.split(".")[0].split("_")[2];

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** npm installed only the package of this platform. */
export function workerdProgram() {
  const packages = join(ROOT, "node_modules/@cloudflare");
  const name = readdirSync(packages).find((entry) => entry.startsWith("workerd-"));
  return join(packages, name, "bin/workerd");
}

/** An interrupted run ends its workerd, too. */
export function endWith(child) {
  process.once("exit", () => child.kill());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
}

export async function defaultSettings() {
  const text = await readFile(join(ROOT, "fixtures/local/defaults.env"), "utf8");
  const lines = text.split("\n").filter((line) => /^[A-Z_]+=/.test(line));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/**
 * Starts Signpost with the demo's catalog, and its facts up to today. Without local sign-in, as in production, members
 * need passkeys. With `docs`, a folder, the documentation in it is at /docs.
 */
export async function startSignpost({ localSignIn = true, facts = true, settings = {}, docs } = {}) {
  const signpost = new Signpost(await freePort(), await mkdtemp(join(tmpdir(), "signpost-browser-")), docs);
  try {
    await signpost.start({ LOCAL_SIGN_IN: localSignIn ? "true" : "", ...settings });
    await signpost.load(facts);
  } catch (error) {
    await signpost.stop();
    throw error;
  }
  return signpost;
}

class Signpost {
  #state;
  #process;
  #settings;
  #docs;
  #log = "";

  constructor(port, state, docs) {
    this.port = port;
    this.base = `http://localhost:${port}`;
    this.#state = state;
    this.#docs = docs;
  }

  /** workerd's log so far: a JSON line for each failure. */
  get log() {
    return this.#log;
  }

  async start(settings) {
    this.#settings = {
      ...(await defaultSettings()),
      TRACKING_URL: this.base,
      DASHBOARD_URL: this.base,
      CONSOLE_URL: this.base,
      DOCS_URL: this.#docs && `${this.base}/docs/`,
      ...settings,
    };
    for (const name of STATE) await mkdir(join(this.#state, name));
    await this.#run();
  }

  /** Stops workerd, lets `change` at the folder of the objects' databases, and starts it again with the same settings. */
  async restart(change) {
    await this.#end();
    await change(join(this.#state, "objects"));
    await this.#run();
  }

  async #run() {
    this.#process = spawn(
      workerdProgram(),
      [
        "serve",
        join(ROOT, "fixtures/local", this.#docs ? "with_docs.capnp" : "workerd.capnp"),
        `--socket-addr=http=127.0.0.1:${this.port}`,
        ...STATE.map((name) => `--directory-path=${name}=${join(this.#state, name)}`),
        ...(this.#docs ? [`--directory-path=docs-files=${this.#docs}`] : []),
      ],
      { env: { ...process.env, ...this.#settings }, stdio: ["ignore", "pipe", "pipe"] },
    );
    endWith(this.#process);
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream.on("data", (text) => (this.#log += text));
    }
    const giveUp = Date.now() + START_MILLISECONDS;
    for (;;) {
      if (this.#process.exitCode !== null) throw new Error(`workerd ended: ${this.#log}`);
      // Any answer will do: before there is a catalog it is 404.
      if (
        await fetch(this.base).then(
          () => true,
          () => false,
        )
      )
        return;
      if (Date.now() > giveUp) throw new Error(`workerd does not answer: ${this.#log}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async load(facts) {
    const catalog = await readFile(join(ROOT, "fixtures/catalog.ndjson"), "utf8");
    await this.operator("POST", "/import", catalog, { "Content-Type": "application/x-ndjson" });
    await this.operator("POST", `/publishers/${DEMO}/pub_key`);
    if (facts) await this.addFacts(DEMO, today());
  }

  async #end() {
    if (!this.#process || this.#process.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill();
    await ended;
  }

  async stop() {
    await this.#end();
    await rm(this.#state, { recursive: true, force: true });
  }

  /** A call of the operator's interface, which must succeed. */
  async operator(method, path, body, headers = {}) {
    const isJson = typeof body === "object";
    const send = () =>
      fetch(`${this.base}/v1/operator${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${this.#settings.OPERATOR_TOKEN}`,
          ...(isJson && { "Content-Type": "application/json" }),
          ...headers,
        },
        body: isJson ? JSON.stringify(body) : body,
      });
    // workerd may close an idle connection just as fetch reuses it, before it has read the request.
    const answer = await send().catch((error) => {
      if (error.cause?.code !== "UND_ERR_SOCKET") throw error;
      return send();
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  addFacts(publisher, lastDay) {
    const key = randomBytes(8).toString("hex");
    const headers = { "Content-Type": "text/csv", "Idempotency-Key": key };
    return demoFacts(lastDay).then((csv) => this.operator("POST", `/publishers/${publisher}/facts`, csv, headers));
  }

  /** A publisher of its own for a test that changes the account. */
  async addPublisher(name, approved = true) {
    const id = `test-${randomBytes(6).toString("hex")}`;
    await this.operator("PUT", `/publishers/${id}`, { name, approved });
    return id;
  }

  /** The address of a fresh invite. */
  async invite(publisher = DEMO, role = "owner", name = "Ana Ruiz") {
    return (await this.operator("POST", `/publishers/${publisher}/invites`, { name, role })).url;
  }

  /**
   * Spends a fresh invite without a browser, by local sign-in; returns the cookie for Playwright. With the cookie `held` the
   * account is a further one.
   */
  async signIn(publisher, role, name, held) {
    const invite = (await this.invite(publisher, role, name)).split("#invite=")[1];
    const answer = await fetch(`${this.base}/v1/dashboard/sign_in`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Origin: this.base,
        "Sec-Fetch-Site": "same-origin",
        "User-Agent": USER_AGENT,
        ...(held && { Cookie: `${held.name}=${held.value}` }),
      },
      body: JSON.stringify({ invite }),
    });
    assert.equal(answer.status, 204, await answer.text());
    const [pair] = answer.headers.get("Set-Cookie").split(";");
    const [cookie, value] = pair.split("=");
    return { name: cookie, value, url: this.base, httpOnly: true, sameSite: "Strict" };
  }

  /** A call of the dashboard's interface, which must succeed, with the cookie of a session. */
  async dashboard({ name, value }, method, path, body = {}, headers = {}) {
    const answer = await fetch(`${this.base}/v1/dashboard${path}`, {
      method,
      headers: {
        Cookie: `${name}=${value}`,
        "Content-Type": "application/json",
        Origin: this.base,
        "Sec-Fetch-Site": "same-origin",
        "X-Publisher": publisherOf(value),
        ...headers,
      },
      body: method === "GET" ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  /** A report of the public API, once the key's rate allows it. */
  async report(key, query, mediaType = "application/json") {
    for (;;) {
      const answer = await fetch(`${this.base}/v1/core/reporting/public/signal/report/generate`, {
        method: "POST",
        headers: { "X-Api-Key": key, "Content-Type": "application/json", Accept: mediaType },
        body: JSON.stringify(query),
      });
      if (answer.status !== 429) return answer;
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(answer.headers.get("Retry-After"))));
    }
  }
}
