// A module of the pages' sources, for tests of rules that need no browser.

import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "./signpost.mjs";

export async function importSource(path) {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "src/web", path)],
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    alias: { "#site": join(ROOT, "src/web/dashboard/site.ts") },
    tsconfigRaw: {},
    logLevel: "warning",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
