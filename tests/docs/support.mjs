// The documentation site for a test: its build, its pages, and checks that run in a page.

import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../browser/support/signpost.mjs";

export const SITE = join(ROOT, "docs/site");

/** Builds the site into a folder. */
export function build(output, environment = {}) {
  const env = { ...process.env, DOCS_EDIT_URL: "", ...environment };
  const eleventy = join(SITE, "node_modules/.bin/eleventy");
  return promisify(execFile)(eleventy, ["--quiet", `--output=${output}`], { cwd: SITE, env });
}

/** The addresses of the pages, from the files that were built. */
export const addressesIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith("index.html"))
    .map((file) => file.slice(0, -"index.html".length));

/** Runs in the page: the targets of its links, and its anchors. */
export const references = () => ({
  links: [...new Set([...document.querySelectorAll("a[href]")].map(({ href }) => href))],
  anchors: [...document.querySelectorAll("[id]")].map(({ id }) => id),
});

/** Runs in the page: controls and boxes that scroll, as far as the Tab key does not reach them. */
export function unreachable() {
  const isShown = (element) => element.checkVisibility();
  const used = [...document.querySelectorAll("a, button, input, summary")].filter(
    (element) => isShown(element) && element.tabIndex < 0,
  );
  const scrolls = ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1;
  const scrolled = [...document.querySelectorAll("main *")].filter((element) => {
    const { overflowX } = getComputedStyle(element);
    return isShown(element) && (overflowX === "auto" || overflowX === "scroll") && scrolls(element);
  });
  const lost = [...used, ...scrolled.filter((element) => element.tabIndex < 0)];
  return lost.map((element) => element.outerHTML.slice(0, 120));
}

/** Runs in the page: every detail is open, as somebody may have it. */
export function openDetails() {
  for (const details of document.querySelectorAll("details")) details.open = true;
}
