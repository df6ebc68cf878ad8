// `make secrets TO=file` draws the secrets of a new deployment, writes them to a file for a vault, and sets them at
// both Workers. `make secrets FROM=file` sets those that are missing from such a file. Neither changes a secret that
// is set, because data that is sealed under it would be unreadable. wrangler gets the values on its stdin.

import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Failure, query, WORKERS, wrangler } from "./wrangler.mjs";

const random = () => randomBytes(32).toString("hex");
const list = (id, rule = "") => new RegExp(`^${rule}${id}[0-9a-fA-F]{64}(,${id}[0-9a-fA-F]{64})*$`);
const ID = "(?:[1-9]?\\d|1\\d\\d|2[0-4]\\d|25[0-5]):";
/** The Workers refuse a list with an id twice. */
const NONE_TWICE = "(?!(?:.*,)?(\\d+):.*,\\1:)";
/** How a secret is drawn, and the form of each value of it (docs/OPERATING.md, "Settings"). */
const TEXT = { draw: random, form: /^\S+$/ };
const MAC = { draw: random, form: list("") };
const KEYS = { draw: () => `1:${random()}`, form: list(ID, NONE_TWICE) };
const CLICK_KEYS = { draw: () => `1:seal:${random()}`, form: list(`${ID}(?:seal|open):`, `${NONE_TWICE}(?=.*:seal:)`) };

/** All secrets: their kind, and the Workers that have them with the same value. */
export const SECRETS = {
  OPERATOR_TOKEN: { ...TEXT, workers: ["origin"] },
  METRICS_TOKEN: { ...TEXT, workers: ["origin", "edge"] },
  STORE_KEYS: { ...KEYS, workers: ["origin"] },
  EDGE_KEYS: { ...KEYS, workers: ["origin", "edge"] },
  CLICK_KEYS: { ...CLICK_KEYS, workers: ["origin", "edge"] },
  REPORT_KEY_MAC: { ...MAC, workers: ["origin", "edge"] },
  TOKEN_MAC: { ...MAC, workers: ["origin", "edge"] },
  ACCOUNT_MAC: { ...MAC, workers: ["origin"] },
};

/** The names of the secrets that each Worker has. A Worker that does not exist has none. */
export async function secretsSet() {
  const names = async (worker) =>
    (await query(worker, ["secret", "list"], /Worker .* not found/))?.map(({ name }) => name) ?? [];
  const set = await Promise.all(Object.keys(WORKERS).map(async (worker) => [worker, new Set(await names(worker))]));
  return Object.fromEntries(set);
}

/** True if neither Worker has a secret of ours, as before the first deployment. */
const isNew = (set) => Object.values(set).every((names) => Object.keys(SECRETS).every((name) => !names.has(name)));

/** The names of the secrets that each Worker lacks. */
function missing(set) {
  const lacks = (worker) => (name) => SECRETS[name].workers.includes(worker) && !set[worker].has(name);
  return Object.fromEntries(Object.keys(WORKERS).map((worker) => [worker, Object.keys(SECRETS).filter(lacks(worker))]));
}

/** Returns a line for each secret that a Worker lacks, with what to do. */
export function problemsOf(set) {
  if (isNew(set)) return ["no secret is set at Cloudflare; run make secrets TO=file"];
  const repair = "set it from the file that you kept: make secrets FROM=file";
  return Object.entries(missing(set)).flatMap(([worker, names]) =>
    names.map((name) => {
      const other = SECRETS[name].workers.find((candidate) => set[candidate].has(name));
      const where = other ? ` and set at the ${other}, and both need the same value` : "";
      return `${WORKERS[worker]}: secret ${name} is missing at the ${worker}${where}; ${repair}`;
    }),
  );
}

/** `make secrets`. */
export async function setSecrets({ TO: to, FROM: from }) {
  if (to && from) throw new Failure("TO= draws new secrets and FROM= reads kept ones; give one of them");
  const set = await secretsSet();
  const lacking = missing(set);
  if (Object.values(lacking).every(({ length }) => length === 0)) {
    console.error("All secrets are set at both Workers. Nothing was changed.");
    return;
  }
  if (from) return put(lacking, await readSecrets(from));
  if (!isNew(set)) {
    throw new Failure(`Nothing was changed. New secrets are only drawn if none is set.
${problemsOf(set).join("\n")}
Cloudflare never shows a value. If you kept no copy, write a new value into a file in the form of docs/OPERATING.md
("Settings"), delete the old one (npx wrangler secret delete), and use FROM=. docs/OPERATING.md ("Rotating keys") says
what is lost without the old key.`);
  }
  if (!to) {
    throw new Failure(`No secret is set, and nothing was changed. Cloudflare never shows a secret again, so say where to
keep them: make secrets TO=file writes a new file that only you can read. TO=- writes them to stdout.`);
  }
  const drawn = Object.fromEntries(Object.entries(SECRETS).map(([name, { draw }]) => [name, draw()]));
  // The copy comes first, so that a failure halfway loses no value.
  await keep(to, drawn);
  await put(lacking, drawn);
  console.error(`${to === "-" ? "Put them" : `Move ${to}`} into a vault. You need OPERATOR_TOKEN and METRICS_TOKEN \
for calls. Without the others, a copy of the data cannot be read, and issued keys, tokens and click ids are lost.`);
}

async function keep(to, secrets) {
  const text = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  if (to === "-") return void process.stdout.write(text.join(""));
  try {
    await writeFile(resolve(to), text.join(""), { flag: "wx", mode: 0o600 });
  } catch (error) {
    const why =
      error.code === "EEXIST" ? "exists already; choose another file, or use FROM= to set its secrets" : error.message;
    throw new Failure(`Nothing was changed: ${to} ${why}`);
  }
}

async function readSecrets(from) {
  const text = await readFile(resolve(from), "utf8").catch((error) => {
    throw new Failure(`Nothing was changed: ${from} cannot be read: ${error.message}`);
  });
  const lines = text.split("\n").filter((line) => line.trim() && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.split("=", 1)[0].trim(), line.slice(line.indexOf("=") + 1).trim()]),
  );
}

/** Sets the secrets that each Worker lacks. Checks all values first, and never prints one. */
async function put(lacking, values) {
  for (const name of new Set(Object.values(lacking).flat())) {
    if (values[name] === undefined) throw new Failure(`Nothing was changed: the file has no line ${name}=…`);
    if (SECRETS[name].form.test(values[name])) continue;
    throw new Failure(`Nothing was changed: ${name} is not in the form of docs/OPERATING.md ("Settings")`);
  }
  for (const [worker, names] of Object.entries(lacking)) {
    if (names.length === 0) continue;
    const input = JSON.stringify(Object.fromEntries(names.map((name) => [name, values[name]])));
    const { code, stdout, stderr } = await wrangler(worker, ["secret", "bulk"], { input });
    if (code !== 0) {
      const hint = "Run make secrets FROM=file with the kept file to set what is missing.";
      throw new Failure(`wrangler secret bulk (${WORKERS[worker]}) failed. ${hint}\n${(stderr || stdout).trim()}`);
    }
    console.error(`Set at the ${worker}: ${names.join(", ")}`);
  }
}
