// Builds the pages of the dashboard and the console into the folder of the origin module: node src/web/build.mjs OUT_DIR
// Bundles each site's scripts, writes the styles into its page, and compresses all files. `pages.js` names the files
// for src/origin/entry.js.

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const WEB = dirname(fileURLToPath(import.meta.url));

// The oldest supported browsers. Sign-in needs passkeys as JSON, which exist since Chrome 129, Firefox 119 and
// Safari 18.4.
const TARGET = ["chrome129", "firefox128", "safari18.4"];

// The content of each page before its script runs.
const SITES = {
  dashboard: {
    first: "/v1/dashboard/overview",
    views: { "": "Overview", "/reports": "Reports", "/apps": "Apps", "/rewards": "Rewards", "/settings": "Settings" },
    without: "The dashboard needs JavaScript. The reporting API gives the same numbers without it.",
  },
  console: {
    first: "/v1/console/session",
    views: {
      "": "Attention",
      "/publishers": "Publishers",
      "/offers": "Offers",
      "/advertisers": "Advertisers",
      "/rewards": "Rewards",
      "/service": "Service",
      "/settings": "Settings",
    },
    // Reserves the space of the search field, so that nothing moves when the script draws the field.
    extra: '<span class="search-box"></span>',
    without: "The console needs JavaScript. The operator's API does the same without it.",
  },
};

const out = process.argv[2];
if (!out) throw new Error("usage: node src/web/build.mjs OUT_DIR");

// The release, which the account menu shows.
const cargo = await readFile(join(WEB, "../../Cargo.toml"), "utf8");
const version = cargo.match(/^version = "(.*)"$/m)[1];

const common = { bundle: true, minify: true, write: false, target: TARGET, legalComments: "none", logLevel: "warning" };
const nameOf = (path) => path.split(/[\\/]/).pop();

// All pages and scripts are in one data module, one after the other, so that adding one changes no Worker's
// configuration.
const packed = [];
let end = 0;
function pack(contents) {
  const bytes = gzipSync(contents, { level: 9 });
  packed.push(bytes);
  end += bytes.length;
  return [end - bytes.length, end];
}

async function buildSite(name, { first, views, without, extra = "" }) {
  const source = join(WEB, name);
  const assets = `/${name}/assets/`;
  // The scripts: the entry, the views that are loaded when they are opened, and the code that both share.
  const scripts = await build({
    ...common,
    entryPoints: [join(source, "main.tsx")],
    outdir: join(out, "assets"),
    entryNames: "app-[hash]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    metafile: true,
    format: "esm",
    define: { VERSION: JSON.stringify(version) },
    jsx: "automatic",
    jsxImportSource: "preact",
    alias: { "#session": join(source, "session.ts"), "#site": join(source, "site.ts") },
    tsconfigRaw: {},
  });
  const style = await build({ ...common, entryPoints: [join(WEB, "shared", "style.css")] });

  const outputs = Object.entries(scripts.metafile.outputs).map(([path, output]) => [nameOf(path), output]);
  const [appName, entry] = outputs.find(([, { entryPoint }]) => entryPoint?.endsWith("main.tsx"));
  // The entry imports these scripts at once, so the page loads them together with the entry and not after it.
  const shared = entry.imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => nameOf(path));
  const styleText = style.outputFiles[0].text.trim();
  // A browser hashes the element's content exactly as it is, so nothing may change it afterwards.
  const styleHash = `sha256-${createHash("sha256").update(styleText).digest("base64")}`;

  const links = Object.entries(views).map(([path, view]) => `<li><a href="/${name}${path}">${view}</a></li>`);
  const preloads = [...shared, appName].map((file) => `<link rel="modulepreload" href="${assets + file}" />`);
  const shell = await readFile(join(WEB, "shared", "shell.html"), "utf8");
  // The replacements are functions, because `$` has a special meaning in a replacement string.
  const html = shell
    .replace(/<!--(?!\[).*?-->\s*/gs, "")
    .replaceAll("{{root}}", () => `/${name}`)
    .replace("{{first}}", () => first)
    .replace("{{without}}", () => without)
    .replace("{{extra}}", () => extra)
    .replace("{{links}}", () => links.join("\n"))
    .replaceAll("{{script}}", () => assets + appName)
    .replace("{{preloads}}", () => preloads.join("\n"))
    .replace(/\n\s*/g, "\n")
    .replace("/* style */", () => styleText);
  const isFirst = (file) => file === appName || shared.includes(file);
  const files = scripts.outputFiles.map(({ path, contents }) => {
    const file = nameOf(path);
    return [assets + file, ...pack(contents), isFirst(file)];
  });
  return { page: pack(Buffer.from(html)), styleHash, files };
}

const sites = {};
for (const [name, site] of Object.entries(SITES)) sites[name] = await buildSite(name, site);

await mkdir(out, { recursive: true });
await writeFile(join(out, "pages.gz.bin"), Buffer.concat(packed));
await writeFile(
  join(out, "pages.js"),
  `import packed from "./pages.gz.bin";
const contentType = "text/javascript; charset=utf-8";
const file = ([path, start, end]) => [path, { contentType, bytes: packed.slice(start, end) }];
const site = ({ page, styleHash, files }) => ({ page: packed.slice(...page), styleHash, files: new Map(files.map(file)) });
const sites = ${JSON.stringify(sites)};
export default { dashboard: site(sites.dashboard), console: site(sites.console) };
`,
);
