// The two Workers, and how the commands of this folder run wrangler for them. wrangler knows the account and calls
// Cloudflare, so no other code needs a token or an address of its API.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../node_modules/.bin/wrangler", import.meta.url));

/** In the order of a deployment: the edge binds the origin's objects. Paths start at the current folder. */
export const WORKERS = { origin: "src/origin/wrangler.toml", edge: "wrangler.toml" };

/** Runs a wrangler command for a Worker in production. `input` goes to its stdin. Returns exit code and output. */
export function wrangler(worker, args, { input = "", show = false } = {}) {
  const child = spawn(PROGRAM, [...args, "--env", "production", "--config", WORKERS[worker]], {
    env: { ...process.env, WRANGLER_HIDE_BANNER: "true" },
    stdio: show ? "inherit" : "pipe",
  });
  const output = { stdout: "", stderr: "" };
  for (const name of show ? [] : ["stdout", "stderr"]) child[name].on("data", (text) => (output[name] += text));
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
}

/** Runs a wrangler command that prints JSON. Returns undefined if it fails with this message. */
export async function query(worker, args, ifMissing) {
  const { code, stdout, stderr } = await wrangler(worker, args);
  if (code === 0) return JSON.parse(stdout);
  if (ifMissing?.test(stdout + stderr)) return undefined;
  throw new Failure(`wrangler ${args.join(" ")} (${WORKERS[worker]}) failed:\n${(stderr || stdout).trim()}`);
}

/** An error whose message says all that the operator needs. */
export class Failure extends Error {}
