// Builds the dashboard's page into the folder of the origin module: node src/dashboard/build.mjs OUT_DIR
// Bundles the script, writes the styles into the page, and compresses both. `pages.js` names them for src/origin/entry.js.

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const SOURCE = dirname(fileURLToPath(import.meta.url));
const ASSETS = "/dashboard/assets/";

// Browsers with passkeys as JSON, which sign-in needs: Chrome 129, Firefox 119, Safari 18.4.
const TARGET = ["chrome129", "firefox128", "safari18.4"];

const out = process.argv[2];
if (!out) throw new Error("usage: node src/dashboard/build.mjs OUT_DIR");

const common = { bundle: true, minify: true, write: false, target: TARGET, legalComments: "none", logLevel: "warning" };

const script = await build({
  ...common,
  entryPoints: [join(SOURCE, "main.tsx")],
  outdir: join(out, "assets"),
  entryNames: "app-[hash]",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  tsconfigRaw: {},
});
const style = await build({ ...common, entryPoints: [join(SOURCE, "style.css")] });

const appText = Buffer.from(script.outputFiles[0].contents);
const appName = script.outputFiles[0].path.split(/[\\/]/).pop();
const styleText = style.outputFiles[0].text.trim();
// A browser hashes the element's content as it stands, so nothing may change it afterwards.
const styleHash = `sha256-${createHash("sha256").update(styleText).digest("base64")}`;

const shell = await readFile(join(SOURCE, "shell.html"), "utf8");
// A function as replacement, because `$` in a string has a meaning.
const html = shell
  .replace(/<!--(?!\[).*?-->\s*/gs, "")
  .replace(/\n\s*/g, "\n")
  .replace("/* style */", () => styleText)
  .replaceAll("{{script}}", () => ASSETS + appName);

await mkdir(out, { recursive: true });
const compressed = { "page.html.gz.bin": Buffer.from(html), "app.js.gz.bin": appText };
for (const [name, contents] of Object.entries(compressed)) {
  await writeFile(join(out, name), gzipSync(contents, { level: 9 }));
}
await writeFile(
  join(out, "pages.js"),
  `import page from "./page.html.gz.bin";
import app from "./app.js.gz.bin";
const files = new Map([[${JSON.stringify(ASSETS + appName)}, { contentType: "text/javascript; charset=utf-8", bytes: app }]]);
export default { page, styleHash: ${JSON.stringify(styleHash)}, files };
`,
);
