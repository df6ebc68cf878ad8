// Both Workers on workerd with a socket and hosts of their own, as Cloudflare routes them.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSettings, endWith, freePort, workerdProgram } from "../browser/support/signpost.mjs";
import { ROOT } from "./cloudflare.mjs";

/** Starts the Workers with these variables and the secrets of local runs, on this state or a new one. */
export async function startWorkers(vars, state) {
  const folder = state ?? (await mkdtemp(join(tmpdir(), "signpost-workers-")));
  const [edge, origin] = [await freePort(), await freePort()];
  const folders = ["kv", "objects"];
  for (const name of folders) await mkdir(join(folder, name), { recursive: true });
  const secrets = await defaultSettings();
  const workerd = spawn(
    workerdProgram(),
    [
      "serve",
      join(ROOT, "tests/e2e/both_workers.capnp"),
      `--socket-addr=http=127.0.0.1:${edge}`,
      `--socket-addr=control=127.0.0.1:${origin}`,
      ...folders.map((name) => `--directory-path=${name}=${join(folder, name)}`),
    ],
    { env: { ...process.env, ...secrets, ...vars }, stdio: "ignore" },
  );
  endWith(workerd);
  const addresses = { edge: `http://127.0.0.1:${edge}`, origin: `http://127.0.0.1:${origin}` };
  for (const address of Object.values(addresses)) await answers(address, workerd);
  return {
    secrets,
    folder,
    ...addresses,
    stop: async () => {
      const ended = new Promise((resolve) => workerd.once("exit", resolve));
      workerd.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a socket answers anything. */
async function answers(address, workerd) {
  for (let attempt = 0; attempt < 300 && workerd.exitCode === null; attempt += 1) {
    const isOpen = await fetch(address).then(Boolean, () => false);
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`workerd does not answer on ${address}`);
}
