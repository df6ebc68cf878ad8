// Reads the pages that were built: their sections for the search, and links and anchors that lead nowhere.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { Parser } from "htmlparser2";

const HEADING = /^h[1-4]$/;
/** Elements whose text does not belong to a section. */
const SKIPPED = new Set(["nav", "aside", "footer", "script", "style", "svg"]);
const BLOCKS = /^(p|li|td|th|div|pre|dt|dd|h[1-4]|summary|br)$/;

class Reader {
  ids = new Set();
  links = [];
  sections = [];
  repeated = [];
  #open = [];
  #skipped = 0;
  #isMain = false;
  #heading;

  constructor(html) {
    const parser = new Parser({
      onopentag: (name, attributes) => this.#start(name, attributes),
      ontext: (text) => this.#text(text),
      onclosetag: (name) => this.#end(name),
    });
    parser.end(html);
  }

  #start(name, { id, href, src, class: names = "" }) {
    if (id && this.ids.has(id)) this.repeated.push(id);
    if (id) this.ids.add(id);
    for (const link of [href, src]) if (link !== undefined) this.links.push(link);
    const isSkipped = SKIPPED.has(name) || names.split(" ").includes("no-search");
    this.#open.push(isSkipped);
    if (isSkipped) this.#skipped += 1;
    if (name === "main") this.#isMain = true;
    const isTerm = names === "term";
    if (this.#isMain && (isTerm || HEADING.test(name)) && this.#skipped === 0) {
      this.sections.push({ id: name === "h1" ? "" : (id ?? ""), title: "", text: "" });
      this.#heading = isTerm ? "strong" : name;
    }
  }

  #text(text) {
    const section = this.sections.at(-1);
    if (!this.#isMain || this.#skipped > 0 || !section) return;
    if (this.#heading) section.title += text;
    else section.text += text;
  }

  #end(name) {
    if (this.#open.pop()) this.#skipped -= 1;
    if (name === this.#heading) this.#heading = undefined;
    if (name === "main") this.#isMain = false;
    const section = this.sections.at(-1);
    if (section && BLOCKS.test(name)) section.text += " ";
  }
}

export class HtmlPages {
  constructor(folder) {
    this.folder = folder;
    const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".html"));
    this.pages = new Map(files.map((file) => [file, new Reader(readFileSync(join(folder, file), "utf8"))]));
  }

  /** Each link that leads to no file or anchor of the site, and each anchor that a page has twice. */
  problems() {
    return [...this.pages].flatMap(([file, { links, repeated }]) => [
      ...links.filter((link) => !this.#isThere(file, link)).map((link) => `${file}: ${link}`),
      ...repeated.map((id) => `${file} has #${id} twice`),
    ]);
  }

  #isThere(file, link) {
    if (/^(https?:|mailto:)/.test(link)) return true;
    const [path, anchor] = link.split("#");
    // The 404 page is served for any address, so it names files from the root of the production host.
    const from = link.startsWith("/") ? "" : posix.dirname(file);
    let target = path === "" ? file : posix.join(from, path.replace(/^\//, "")) || ".";
    if (path.endsWith("/") || target === ".") target = posix.join(target, "index.html");
    if (target.startsWith("..") || !existsSync(join(this.folder, target))) return false;
    return !anchor || (this.pages.get(target)?.ids.has(decodeURIComponent(anchor)) ?? false);
  }
}
