// The pages of the site in groups, each with its address, its title, and the pages before and after it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GROUPS } from "../navigation.js";
import { Documents } from "./documents.js";
import { FILES, Reference } from "./reference.js";

/** A document's place on the site: `docs/guides/APP_DEVELOPER.md` is at `guides/app-developer/`. */
const addressOf = (file) =>
  `${file
    .replace(/^docs\/|\.md$/g, "")
    .toLowerCase()
    .replaceAll("_", "-")}/`;

/** The documents that the site shows, by path. */
function documentsOf(root) {
  const found = ["docs", "docs/guides"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`));
  return [...found.filter((file) => file.endsWith(".md")), "CHANGELOG.md"];
}

/** The groups with every document in one of them. */
function groupsOf(root) {
  const groups = GROUPS.map((group) => ({ ...group, pages: [...group.pages] }));
  const named = new Set(groups.flatMap(({ pages }) => pages.map(({ doc }) => doc)));
  const others = documentsOf(root).filter((file) => !named.has(file));
  const isGuide = (file) => file.startsWith("docs/guides/");
  const [integrate, , understand] = groups;
  integrate.pages.unshift(...others.filter(isGuide).map((doc) => ({ doc })));
  understand.pages.push(...others.filter((file) => !isGuide(file)).map((doc) => ({ doc })));
  return groups;
}

/** A line with only a link to a file of `fixtures/`. The site shows the file below the line. */
const SHOWN = /^\[`[^`]+`\]\([./]*(fixtures\/\S+)\)$/gm;

function showFiles(root, text) {
  return text.replace(SHOWN, (line, file) => {
    const language = file.split(".").pop().replace("gs", "javascript");
    return `${line}\n\n\`\`\`${language}\n${readFileSync(join(root, file), "utf8")}\`\`\``;
  });
}

export function readSite(root) {
  const reference = new Reference(new Documents(root, FILES));
  const groups = groupsOf(root).map((group) => ({
    ...group,
    pages: group.pages.map((page) => {
      if (page.api) return { ...page, ...reference.page(page.api, page.title), kind: "api" };
      if (page.page) return { ...page, address: `${page.page}/`, kind: "own" };
      const text = showFiles(root, readFileSync(join(root, page.doc), "utf8"));
      const title = /^# (.+)$/m.exec(text)[1];
      const note = page.note ?? /^# .+\n\n([\s\S]+?[.:])(\s|$)/.exec(text)?.[1].replaceAll("\n", " ");
      return { ...page, text, title, note, address: addressOf(page.doc), kind: "document" };
    }),
  }));
  const pages = groups.flatMap((group) => group.pages.map((page) => Object.assign(page, { group: group.title })));
  for (const [index, page] of pages.entries()) {
    page.previous = pages[index - 1];
    page.next = pages[index + 1];
  }
  const version = /^version = "(.+)"$/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
  return { groups, pages, reference, version };
}
