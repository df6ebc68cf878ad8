// A stub of Cloudflare's API with the part that a deployment calls: Workers with versions, secrets and deployments.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const NO_WORKER = { code: 10007, message: "This Worker does not exist on your account." };

/** Starts the stub. `workers` are those that exist: by name, `{ tag, versions, secrets }`. */
export async function startCloudflare(workers = {}) {
  const api = { workers: new Map(), changes: [], uploads: [], refusesSecrets: undefined };
  for (const [name, { tag, ...worker }] of Object.entries(workers)) {
    const version = newVersion({ tag });
    api.workers.set(name, { secrets: {}, tag, versions: [version], deployed: version.id, ...worker });
  }
  /** Adds a version of a Worker and deploys it. */
  api.deploy = (name, parts) => {
    const worker = api.workers.get(name);
    const version = newVersion(parts);
    worker.versions.push(version);
    Object.assign(worker, { tag: parts.tag, deployed: version.id });
    return version;
  };
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const path = request.url.split("?")[0].replace(/^\/client\/v4\/accounts\/[^/]+/, "");
    const call = { method: request.method, path, body: Buffer.concat(parts).toString("latin1") };
    const { result, error } = answer(api, call);
    response.writeHead(error ? 404 : 200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ success: !error, errors: error ? [error] : [], messages: [], result: result ?? null }),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${server.address().port}/client/v4`;
  return Object.assign(api, { address, close: () => server.close() });
}

let count = 0;

function newVersion({ tag, limits, annotations = {} }) {
  count += 1;
  const id = `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`;
  const metadata = { created_on: new Date(Date.UTC(2026, 10, 1, 0, 0, count)).toISOString(), source: "wrangler" };
  const script = { etag: "e", handlers: ["fetch"] };
  const resources = { bindings: [], script, script_runtime: { migration_tag: tag, limits } };
  return { id, number: count, metadata, annotations, resources, startup_time_ms: 1 };
}

function answer(api, { method, path, body }) {
  const [, name, rest = ""] = /^\/workers\/(?:scripts|services)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const worker = api.workers.get(name);
  const call = `${method} ${rest}`;
  const change = (text) => api.changes.push(`${text} ${name}`);
  if (!name && path.endsWith("/workers/scripts")) {
    return { result: [...api.workers].map(([id, { tag }]) => ({ id, migration_tag: tag })) };
  }
  if (path.endsWith("/zones")) return { result: [{ id: "zone" }] };
  if (!name) return { result: method === "GET" ? [] : {} };
  // A Worker that is new or gets new classes is replaced by PUT; any other change is a POST of a version.
  if (call === "PUT " || call === "POST /versions") {
    const metadata = JSON.parse(body.match(/name="metadata"[^{]*(\{.*?\})\r\n--/s)[1]);
    if (worker && !metadata.main_module) throw new Error("no module");
    return { result: upload(api, name, metadata, call === "PUT ", change) };
  }
  if (!worker) return { error: NO_WORKER };
  if (call === "GET ") {
    const script = { migration_tag: worker.tag, tag: "t", last_deployed_from: "wrangler" };
    return { result: { id: name, default_environment: { environment: "production", script } } };
  }
  if (call === "GET /secrets") return { result: Object.keys(worker.secrets).map((key) => ({ name: key })) };
  if (call === "GET /settings") return { result: { bindings: bindings(worker) } };
  if (call === "PATCH /settings") return patch(api, name, JSON.parse(body.match(/(\{.*\})\r\n--/s)[1]), change);
  if (call === "GET /versions") return { result: { items: worker.versions } };
  if (call.startsWith("GET /versions/")) {
    return { result: worker.versions.find(({ id }) => rest.endsWith(id)) };
  }
  if (call === "GET /deployments") {
    const deployment = { id: "d", created_on: "2026-11-01T00:00:00Z", source: "wrangler", strategy: "percentage" };
    return {
      result: { deployments: [{ ...deployment, versions: [{ version_id: worker.deployed, percentage: 100 }] }] },
    };
  }
  if (call === "POST /deployments") {
    worker.deployed = JSON.parse(body).versions[0].version_id;
    change("deploy");
    return { result: { id: "d" } };
  }
  return { result: method === "GET" ? [] : {} };
}

const bindings = ({ secrets }) => Object.keys(secrets).map((name) => ({ type: "secret_text", name }));

function upload(api, name, metadata, isDeployed, change) {
  api.uploads.push(metadata);
  const worker = api.workers.get(name) ?? { secrets: {}, versions: [] };
  api.workers.set(name, worker);
  worker.tag = metadata.migrations?.new_tag ?? worker.tag;
  const version = newVersion({ ...metadata, tag: worker.tag });
  worker.versions.push(version);
  change("upload");
  if (isDeployed) worker.deployed = version.id;
  return { ...version, id: isDeployed ? name : version.id };
}

/** Adds secrets; the settings name those that stay. Each change of a secret deploys a version of its own. */
function patch(api, name, settings, change) {
  if (api.refusesSecrets === name) return { error: { code: 10000, message: "Authentication error" } };
  const worker = api.workers.get(name);
  for (const { name: key, text } of settings.bindings) if (text !== undefined) worker.secrets[key] = text;
  const version = newVersion({ tag: worker.tag });
  worker.versions.push(version);
  worker.deployed = version.id;
  change("secrets");
  return { result: {} };
}

/** Runs a command that calls the stub. It ends by itself; `output` has both streams. */
export async function runWith(api, program, args, { cwd, env = {}, home = cwd }) {
  const child = spawn(program, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      CI: "true",
      WRANGLER_SEND_METRICS: "false",
      CLOUDFLARE_API_BASE_URL: api.address,
      CLOUDFLARE_API_TOKEN: "demo-token",
      CLOUDFLARE_ACCOUNT_ID: "demo-account",
      ...env,
    },
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (text) => (said[name] += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { code, ...said, output: said.stdout + said.stderr };
}
