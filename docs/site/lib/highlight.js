// Code with colors as classes: Shiki writes inline styles, which the site's policy forbids. assets/code.css has the colors.

import { createCssVariablesTheme, createHighlighter } from "shiki";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

const LANGUAGES = "csv go javascript json jsonc php python rust sh toml typescript yaml".split(" ");
/** A color as Shiki writes it: a variable of the theme, by its name. */
const COLOR = /color:var\(--shiki-(?:token-)?([a-z-]+)\)/;

const highlighter = await createHighlighter({
  langs: LANGUAGES,
  themes: [createCssVariablesTheme()],
  engine: createJavaScriptRegexEngine(),
});

/** Their color is that of the text. */
const PLAIN = new Set(["foreground", "punctuation"]);

/** Takes the styles of each element away, and gives a token the class of its color. Plain text has no element. */
const classes = {
  pre(node) {
    node.properties = { class: "code" };
  },
  span(node) {
    const [, color] = COLOR.exec(node.properties.style) ?? [];
    delete node.properties.style;
    if (color && !PLAIN.has(color)) node.properties.class = `code-${color}`;
  },
  line(node) {
    delete node.properties.class;
    node.children = node.children.flatMap((token) => (token.properties.class ? [token] : token.children));
  },
};

/** HTML of a block of code. An unknown language has no colors. */
export function highlight(code, language) {
  const lang = highlighter.getLoadedLanguages().includes(language) ? language : "text";
  return highlighter.codeToHtml(code.replace(/\n$/, ""), {
    lang,
    theme: "css-variables",
    transformers: [classes],
  });
}
