// The documentation site: `make docs` builds it from docs/, CHANGELOG.md and the API's documents into build/docs/.
// DOCS_EDIT_URL is where a file is edited, for example https://github.com/you/signpost/edit/main.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readErrors } from "./lib/errors.js";
import { HEADERS } from "./lib/headers.js";
import { highlight } from "./lib/highlight.js";
import { HtmlPages } from "./lib/html_pages.js";
import { editUrl, Links, relative } from "./lib/links.js";
import { Markdown } from "./lib/markdown.js";
import { FILES } from "./lib/reference.js";
import { buildIndex } from "./lib/search_index.js";
import { readSite } from "./lib/site.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const base = process.env.DOCS_EDIT_URL;

export default function (eleventy) {
  const site = readSite(ROOT);
  const { reference, pages } = site;
  const byPath = Object.fromEntries(pages.filter(({ doc }) => doc).map((page) => [page.doc, page]));
  const markdown = new Markdown(new Links(ROOT, byPath, base));
  const apiPages = pages.filter(({ kind }) => kind === "api");
  for (const page of apiPages) reference.complete(page);

  for (const page of pages.filter(({ kind }) => kind === "document")) {
    const { html, headings } = markdown.document(page.text, { path: page.doc, address: page.address });
    eleventy.addTemplate(`${page.address.slice(0, -1)}.html`, html, {
      layout: "page.njk",
      address: page.address,
      source: page.doc,
      headings,
    });
  }

  eleventy.addGlobalData("site", site);
  eleventy.addGlobalData("apiPages", apiPages);
  eleventy.addGlobalData("errors", readErrors({ ...reference, elsewhere: reference.elsewhere() }));
  eleventy.addGlobalData(
    "overviews",
    FILES.map((file) => reference.overview(file)),
  );
  eleventy.addGlobalData("permalink", () => (data) => `${data.address}index.html`);

  eleventy.addFilter("from", (address, from) => relative(from, address));
  eleventy.addFilter("block", (text) => markdown.block(text));
  eleventy.addFilter("inline", (text) => markdown.inline(text));
  eleventy.addFilter("code", highlight);
  eleventy.addFilter("editUrl", (file) => editUrl(base, file));
  eleventy.addFilter("pageAt", (address) => pages.find((page) => page.address === address));

  eleventy.addPassthroughCopy({ assets: "assets", "node_modules/minisearch/dist/es/index.js": "assets/minisearch.js" });
  for (const file of FILES) eleventy.addPassthroughCopy({ [`../../${file}`]: file });

  // The folder stays, because a local run holds it open.
  eleventy.on("eleventy.before", ({ directories: { output } }) => {
    mkdirSync(output, { recursive: true });
    for (const name of readdirSync(output)) rmSync(join(output, name), { recursive: true });
  });
  eleventy.on("eleventy.after", ({ directories: { output } }) => {
    const built = new HtmlPages(output);
    const problems = built.problems();
    if (problems.length > 0) throw new Error(`Links that lead nowhere:\n${problems.join("\n")}`);
    writeFileSync(join(output, "assets/search.json"), buildIndex(built.pages));
    const lines = Object.entries(HEADERS).map(([name, value]) => `  ${name}: ${value}\n`);
    writeFileSync(join(output, "_headers"), `/*\n${lines.join("")}`);
  });
}

export const config = {
  dir: { input: "pages", includes: "../includes", output: "../../build/docs" },
  templateFormats: ["njk", "html"],
  htmlTemplateEngine: false,
};
