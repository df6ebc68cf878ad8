// Builds the dashboard's page into the folder of the origin module: node src/dashboard/build.mjs OUT_DIR
// Bundles the scripts, writes the styles into the page, and compresses all. `pages.js` names them for src/origin/entry.js.

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

// The entry, what it shares with views that are loaded when they are opened, and these views.
const scripts = await build({
  ...common,
  entryPoints: [join(SOURCE, "main.tsx")],
  outdir: join(out, "assets"),
  entryNames: "app-[hash]",
  chunkNames: "[name]-[hash]",
  splitting: true,
  metafile: true,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  tsconfigRaw: {},
});
const style = await build({ ...common, entryPoints: [join(SOURCE, "style.css")] });

const nameOf = (path) => path.split(/[\\/]/).pop();
const outputs = Object.entries(scripts.metafile.outputs).map(([path, output]) => [nameOf(path), output]);
const [appName, entry] = outputs.find(([, { entryPoint }]) => entryPoint?.endsWith("main.tsx"));
// Imported at once, and so loaded beside the entry rather than after it.
const shared = entry.imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => nameOf(path));
const styleText = style.outputFiles[0].text.trim();
// A browser hashes the element's content as it stands, so nothing may change it afterwards.
const styleHash = `sha256-${createHash("sha256").update(styleText).digest("base64")}`;

const shell = await readFile(join(SOURCE, "shell.html"), "utf8");
// A function as replacement, because `$` in a string has a meaning.
const html = shell
  .replace(/<!--(?!\[).*?-->\s*/gs, "")
  .replace(/\n\s*/g, "\n")
  .replace("/* style */", () => styleText)
  .replaceAll("{{script}}", () => ASSETS + appName)
  .replace("{{preloads}}", () => [...shared, appName].map((name) => `<link rel="modulepreload" href="${ASSETS + name}" />`).join("\n"));

// The scripts lie one after the other in one data module, so that a further one changes no configuration of a Worker.
const files = [];
const packed = [];
let start = 0;
for (const { path, contents } of scripts.outputFiles) {
  const bytes = gzipSync(contents, { level: 9 });
  files.push({ path: ASSETS + nameOf(path), start, end: start + bytes.length });
  packed.push(bytes);
  start += bytes.length;
}

await mkdir(out, { recursive: true });
await writeFile(join(out, "page.html.gz.bin"), gzipSync(Buffer.from(html), { level: 9 }));
await writeFile(join(out, "app.js.gz.bin"), Buffer.concat(packed));
await writeFile(
  join(out, "pages.js"),
  `import page from "./page.html.gz.bin";
import scripts from "./app.js.gz.bin";
const contentType = "text/javascript; charset=utf-8";
const file = ({ path, start, end }) => [path, { contentType, bytes: scripts.slice(start, end) }];
const files = new Map(${JSON.stringify(files)}.map(file));
export default { page, styleHash: ${JSON.stringify(styleHash)}, files };
`,
);
