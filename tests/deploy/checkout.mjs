// A clone of the repository as an operator deploys it: with hosts, with a Worker of one line, and nothing to build.

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT, runWith } from "./cloudflare.mjs";

export const CONFIGS = { edge: "wrangler.toml", origin: "src/origin/wrangler.toml" };
const COPIED = ["Makefile", "package-lock.json", "CHANGELOG.md", "src/deploy"];

/** The routes and the variables of production as they are shipped. */
const HOST_VARIABLES = {
  TRACKING_URL: "https://track.example.com",
  TRACKING_HOST: "track.example.com",
  OFFERS_HOST: "offers.example.com",
  REPORTING_HOST: "reporting.example.com",
  OPERATOR_HOST: "operator.example.com",
  DASHBOARD_HOST: "dashboard.example.com",
};
const SHIPPED = {
  edge: { routes: ["offers", "track", "reporting"], vars: { ...HOST_VARIABLES, TRUST_COUNTRY_HEADER: "false" } },
  origin: {
    routes: ["operator", "dashboard"],
    vars: {
      ...HOST_VARIABLES,
      DASHBOARD_URL: "https://dashboard.example.com",
      CONSOLE_URL: "https://operator.example.com",
      SUPPORT_CONTACT: "mailto:support@example.com",
      LOCAL_SIGN_IN: "false",
      ALLOW_PRIVATE_CALLBACKS: "false",
    },
  },
};

/** A configuration with the shipped placeholders. The repository may be an operator's, with hosts and more already. */
function shipped(worker, text) {
  const { routes, vars } = SHIPPED[worker];
  const patterns = routes.map((name) => `    { pattern = "${name}.example.com", custom_domain = true },\n`);
  const lines = Object.entries(vars).map(([name, value]) => `${name} = "${value}"\n`);
  const [local, production] = text.split("[env.production]\n");
  const reset = production
    .replace(/^account_id = .*\n/m, "")
    .replace(/^routes = \[[^\]]*\]/m, `routes = [\n${patterns.join("")}]`)
    .replace(/(?<=^\[env\.production\.vars\]\n)(^(?!\[).*\n)*/m, `${lines.join("")}\n`)
    .replace(/^id = .*/m, `id = "${"0".repeat(32)}"`);
  return `${local}[env.production]\n${reset}`;
}

/** The values that an operator puts in place of the placeholders. */
const filled = (text) => text.replaceAll("example.com", "acme.test").replaceAll(/\b0{32}\b/g, "ab".repeat(16));

/** With `isFilled` false it has placeholders, as a new operator's clone. */
export async function newCheckout({ isFilled = true } = {}) {
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
  for (const [worker, path] of Object.entries(CONFIGS)) {
    const main = worker === "edge" ? "./worker.js" : "../../worker.js";
    const text = shipped(worker, await readFile(join(ROOT, path), "utf8"));
    const short = (isFilled ? filled(text) : text)
      .replace(/main = "[^"]*"/, `main = "${main}"`)
      .replace(/\[build\]\ncommand = "[^"]*"\n/, "");
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
