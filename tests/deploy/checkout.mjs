// A clone of the repository as an operator deploys it: with hosts, with a Worker of one line, and nothing to build.

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT, runWith } from "./cloudflare.mjs";

export const CONFIGS = { edge: "wrangler.toml", origin: "src/origin/wrangler.toml" };
const COPIED = ["Makefile", "package-lock.json", "CHANGELOG.md", "src/deploy"];

/** The values that an operator puts in place of the placeholders. */
export const filled = (text) => text.replaceAll("example.com", "acme.test").replaceAll(/\b0{32}\b/g, "ab".repeat(16));

export async function newCheckout() {
  const folder = await mkdtemp(join(tmpdir(), "signpost-deploy-"));
  await mkdir(join(folder, ".tools"));
  // `make` would look for the packages that a build needs.
  await writeFile(join(folder, ".tools/packages"), "");
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await mkdir(join(folder, "src/origin"), { recursive: true });
  for (const path of COPIED) await cp(join(ROOT, path), join(folder, path), { recursive: true });
  await writeFile(join(folder, ".gitignore"), "/*\n!/wrangler.toml\n!/CHANGELOG.md\n");
  const classes = (await readFile(join(ROOT, CONFIGS.origin), "utf8")).match(/new_sqlite_classes = (\[.*\])/)[1];
  const exported = JSON.parse(classes).map((name) => `export class ${name} {}\n`);
  await writeFile(
    join(folder, "worker.js"),
    `${exported.join("")}export default { fetch() { return new Response(); } };\n`,
  );
  for (const path of Object.values(CONFIGS)) {
    const main = path === CONFIGS.edge ? "./worker.js" : "../../worker.js";
    const text = filled(await readFile(join(ROOT, path), "utf8"));
    const short = text.replace(/main = "[^"]*"/, `main = "${main}"`).replace(/\[build\]\ncommand = "[^"]*"\n/, "");
    await writeFile(join(folder, path), short);
  }
  const git = (...args) => promisify(execFile)("git", ["-C", folder, ...args]);
  await git("init", "--quiet");
  /** Commits the folder, and returns the commit as `make deploy` tags it. */
  const commit = async () => {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@acme.test"];
    await git("add", "--all");
    await git(...identity, "commit", "--quiet", "--allow-empty", "--message", "settings: put our hosts");
    return (await git("rev-parse", "--short=12", "HEAD")).stdout.trim();
  };
  return {
    folder,
    commit,
    /** Runs make here. Without BUNDLES, `make build` has nothing to build. */
    make: (api, args, env) => runWith(api, "make", [...args, "BUNDLES="], { cwd: folder, env }),
    change: async (path, change) => {
      const text = await readFile(join(folder, path), "utf8");
      await writeFile(join(folder, path), change(text));
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
