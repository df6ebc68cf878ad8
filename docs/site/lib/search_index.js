// The index of the search: every section of every page. The page loads it as a file when somebody begins to search.

import MiniSearch from "minisearch";
import { OPTIONS } from "../assets/search_terms.js";

const START_CHARACTERS = 120;

export function buildIndex(pages) {
  const index = new MiniSearch(OPTIONS);
  for (const [file, { sections }] of pages) {
    const address = file.replace(/index\.html$/, "");
    if (address === "" || address.endsWith(".html")) continue;
    const page = clean(sections[0].title);
    // A page may have two headings without an anchor only at its top.
    for (const { id, title, text } of sections.filter((section, at) => at === 0 || section.id)) {
      const whole = clean(text);
      const start = whole.length > START_CHARACTERS ? `${whole.slice(0, START_CHARACTERS)}…` : whole;
      index.add({ id: address + (id && `#${id}`), title: clean(title).replace(/\.$/, ""), page, text: whole, start });
    }
  }
  return JSON.stringify(index);
}

const clean = (text) => text.replace(/\s+/g, " ").trim();
