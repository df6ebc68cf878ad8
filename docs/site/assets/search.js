// The search: loads the index when somebody begins to search, and lists the sections that match.

import MiniSearch from "./minisearch.js";
import { OPTIONS, SEARCH } from "./search_terms.js";

const MAX_RESULTS = 12;

const box = document.querySelector(".search");
const input = document.getElementById("site-search");
const panel = document.getElementById("site-results");
const status = panel.querySelector("[role=status]");
const list = panel.querySelector("ol");
const { root } = box.dataset;

let loaded;

/** Loads the index once. A load that failed is tried again. */
function load() {
  loaded ??= fetch(new URL("search.json", import.meta.url))
    .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(`status ${answer.status}`))))
    .then((text) => MiniSearch.loadJSON(text, OPTIONS))
    .catch((error) => {
      loaded = undefined;
      throw error;
    });
  return loaded;
}

function row({ id, title, page, start }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = root + id;
  const name = document.createElement("b");
  name.textContent = title;
  const place = document.createElement("small");
  place.textContent = title === page ? start : `${page} · ${start}`;
  link.append(name, place);
  item.append(link);
  return item;
}

function show(text, rows = []) {
  status.textContent = text;
  list.replaceChildren(...rows);
  panel.hidden = false;
}

async function search() {
  const asked = input.value.trim();
  if (asked === "") {
    panel.hidden = true;
    return;
  }
  try {
    const found = (await load()).search(asked, SEARCH);
    // The text may have changed since the search started.
    if (asked !== input.value.trim()) return;
    const count = found.length === 1 ? "1 section" : `${found.length} sections`;
    show(found.length === 0 ? `Nothing has “${asked}”` : count, found.slice(0, MAX_RESULTS).map(row));
  } catch {
    show("The search could not be loaded. Try again.");
  }
}

function close() {
  panel.hidden = true;
}

input.addEventListener("focus", () => load().catch(() => {}), { once: true });
input.addEventListener("input", search);
input.addEventListener("focus", () => input.value && search());

// Arrows go through the results; Enter opens the first one.
box.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Escape") {
    close();
    input.focus();
    return;
  }
  if (event.key === "Enter" && document.activeElement === input) links[0]?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || panel.hidden) return;
  event.preventDefault();
  if (at + step < 0) input.focus();
  else links[Math.min(at + step, links.length - 1)]?.focus();
});

list.addEventListener("click", close);
document.addEventListener("pointerdown", ({ target }) => {
  if (!box.contains(target)) close();
});
box.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget && !box.contains(relatedTarget)) close();
});
document.addEventListener("keydown", (event) => {
  const isTyping = /^(input|textarea|select)$/i.test(document.activeElement?.tagName ?? "");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
