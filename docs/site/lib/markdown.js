// Documents as HTML: headings with anchors, links between pages, code with colors, tables that scroll by themselves.

import { basename } from "node:path";
import markdownIt from "markdown-it";
import anchor from "markdown-it-anchor";
import { highlight } from "./highlight.js";

/** Its paragraphs begin with a term. Each term is an anchor for links and the search. */
const GLOSSARY = "docs/GLOSSARY.md";

/** The fragment that GitHub makes from a heading. */
export const fragment = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(" ", "-")
    .replace(/[^\p{L}\p{N}_-]/gu, "");

/** Renders documents and descriptions; `links` says where a link leads. */
export class Markdown {
  #parser;
  #headings = [];

  constructor(links) {
    this.#parser = markdownIt({ html: false, highlight: (code, language) => highlight(code, language) });
    this.#parser.use(anchor, {
      level: [2, 3, 4],
      slugify: fragment,
      permalink: anchor.permalink.headerLink({ class: "anchor" }),
      callback: (token, { slug, title }) => this.#headings.push({ level: token.tag, slug, title }),
    });
    this.#parser.core.ruler.push("links", ({ tokens, env }) => {
      for (const { children } of tokens) if (children && env.path) rewriteLinks(children, links, env);
    });
    // An empty header cell is no header, so it becomes a plain cell.
    this.#parser.core.ruler.push("corners", ({ tokens }) => {
      for (const [at, { type, content }] of tokens.entries()) {
        const isHead = type === "inline" && content === "" && tokens[at - 1].type === "th_open";
        if (isHead) tokens[at - 1].tag = tokens[at + 1].tag = "td";
      }
    });
    this.#parser.core.ruler.push("terms", ({ tokens, env }) => {
      if (env.path === GLOSSARY) markTerms(tokens);
    });
    const { rules } = this.#parser.renderer;
    rules.table_open = () => '<div class="scroll"><table>\n';
    rules.table_close = () => "</table></div>\n";
  }

  /** A document: its HTML, and the headings that its list shows. */
  document(text, from) {
    this.#headings = [];
    const html = this.#parser.render(text, from);
    return { html, headings: this.#headings.filter(({ level }) => level !== "h4") };
  }

  /** A description in the API's documents, which has no headings. */
  block(text) {
    return text ? this.#parser.render(text, {}) : "";
  }

  inline(text) {
    return text ? this.#parser.renderInline(text, {}) : "";
  }
}

function markTerms(tokens) {
  for (const [at, { type, children }] of tokens.entries()) {
    if (type !== "inline" || children[1]?.type !== "strong_open") continue;
    tokens[at - 1].attrSet("id", fragment(children[2].content));
    tokens[at - 1].attrSet("class", "term");
  }
}

/** Sets where each link leads. One to a file that only the repository has becomes text that names the file. */
function rewriteLinks(tokens, links, from) {
  for (let at = 0; at < tokens.length; at += 1) {
    if (tokens[at].type !== "link_open") continue;
    const target = links.resolve(tokens[at].attrGet("href"), from);
    const end = tokens.findIndex((token, index) => index > at && token.type === "link_close");
    const inner = tokens.slice(at + 1, end);
    if (target.href) {
      tokens[at].attrSet("href", target.href);
      // A page has no `.md` here.
      if (target.title && /^[A-Z]+\.md$/.test(inner[0].content)) inner[0].content = target.title;
      continue;
    }
    tokens.splice(at, end - at + 1, ...named(target.path, inner));
  }
}

/** The text of a link, and the path of the file, unless the text names it. */
function named(path, inner) {
  const Token = inner[0].constructor;
  const code = Object.assign(new Token("code_inline", "code", 0), { content: path });
  if (inner.length > 1) return [...inner, ...within(code)];
  const [{ type, content }] = inner;
  if (type === "code_inline") return inner;
  return content.replace(/\.md$/, "") === basename(path, ".md") ? [code] : [...inner, ...within(code)];
}

function within(code) {
  const text = (content) => Object.assign(new code.constructor("text", "", 0), { content });
  return [text(" ("), code, text(")")];
}
