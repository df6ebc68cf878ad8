// URL of the page, its history, and links within the site.

import { computed, signal } from "@preact/signals";
import { NAME } from "#site";

/** The path of the site's first page. */
export const ROOT = `/${NAME}`;

const address = signal({ path: location.pathname, search: location.search, fragment: location.hash });

export const search = computed(() => address.value.search);
/** The fragment: views keep state in it that no server may see. */
export const fragment = computed(() => address.value.fragment);
/** The parts of the path below the root. */
export const pathParts = computed(() => address.value.path.slice(ROOT.length).split("/").filter(Boolean));

// A new view's heading takes the focus, once. The first page keeps the browser's own focus.
let headingWantsFocus: "no" | "focus" | "focus-and-scroll" = "no";

export function takeHeadingFocus() {
  const wanted = headingWantsFocus;
  headingWantsFocus = "no";
  return wanted;
}

/** The next heading that is shown takes the focus: after a sign-in or a sign-out. */
export function focusNextHeading(how: "focus" | "focus-and-scroll" = "focus-and-scroll") {
  if (headingWantsFocus !== "focus-and-scroll") headingWantsFocus = how;
}

/** Each history entry keeps the scroll position at which it was left. */
function write(url: string | URL, how: "push" | "replace") {
  if (how === "replace") return history.replaceState(history.state, "", url);
  history.replaceState({ top: scrollY }, "");
  history.pushState(null, "", url);
}

/** Restores an entry's scroll position after its view is drawn. Some browsers try earlier, at the old view's height. */
function scrollBack() {
  const { top } = (history.state ?? {}) as { top?: number };
  if (top !== undefined) requestAnimationFrame(() => scrollTo(0, top));
}

let openedFrom: "link" | "history" = "link";

/** True if the view was opened by the browser's back or forward button. */
export const cameBack = () => openedFrom === "history";

function show(path: string, query: string, from: "link" | "history") {
  openedFrom = from;
  if (from === "history") scrollBack();
  if (path !== address.peek().path) headingWantsFocus = from === "link" ? "focus-and-scroll" : "focus";
  address.value = { path, search: query, fragment: location.hash };
}

/** The view of a URL: its path, and the section where a view has sections. */
const viewOf = (path: string, query: string) => `${path}?${new URLSearchParams(query).get("section") ?? ""}`;

// Forms with unsaved changes. While there is one, the page asks before it opens another view.
const unsaved = new Set<object>();

/** Opens the requested view. Set while the page asks whether to give up the unsaved changes. */
export const leaving = signal<(() => void) | null>(null);

/** Records whether a form has unsaved changes. A form that is removed from the page records itself as saved. */
export function noteUnsaved(form: object, isUnsaved: boolean) {
  if (isUnsaved) unsaved.add(form);
  else unsaved.delete(form);
}

export function giveUpUnsaved() {
  unsaved.clear();
  leaving.value = null;
}

export function navigate(href: string, how: "push" | "replace" = "push") {
  const url = new URL(href, location.href);
  if (url.pathname + url.search + url.hash === location.pathname + location.search + location.hash) return;
  if (unsaved.size > 0 && viewOf(url.pathname, url.search) !== viewOf(location.pathname, location.search)) {
    leaving.value = () => {
      giveUpUnsaved();
      navigate(href, how);
    };
    return;
  }
  write(url, how);
  show(url.pathname, url.search, "link");
}

function onHistory() {
  const { path, search: query, fragment: hash } = address.peek();
  const isSame = viewOf(location.pathname, location.search) === viewOf(path, query);
  if (unsaved.size === 0 || isSame) return show(location.pathname, location.search, "history");
  // The browser has already moved. A new entry restores the view's URL, and the back button continues from there.
  history.pushState(null, "", path + query + hash);
  leaving.value = () => {
    giveUpUnsaved();
    history.back();
  };
}

/** Writes the view's state into the URL. A replaced entry leaves no step for the back button. */
export function setSearch(query: string, how: "push" | "replace", hash?: string) {
  if (query === location.search && (hash === undefined || hash === location.hash)) return;
  write(location.pathname + query + (hash ?? ""), how);
  show(location.pathname, query, "link");
}

/** Opens links of the site without loading a page. The browser handles all other links. */
export function startRouter() {
  addEventListener("popstate", onHistory);
  // Before the page is closed, the browser asks in its own words.
  addEventListener("beforeunload", (event) => {
    if (unsaved.size > 0) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.("a");
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    // The browser itself goes to a part of the page. Any other fragment is the state of a view.
    const isOfPage = link.pathname + link.search === location.pathname + location.search;
    if (isOfPage && link.hash && document.getElementById(link.hash.slice(1))) return;
    const inside = link.pathname === ROOT || link.pathname.startsWith(`${ROOT}/`);
    if (!inside || link.pathname.startsWith(`${ROOT}/assets/`)) return;
    event.preventDefault();
    navigate(link.href);
  });
}

// An invite stays only in memory, so the URL, the history and a copied link do not show it.
export function takeInvite(): string | null {
  const match = /^#invite=(.+)$/.exec(location.hash);
  if (!match) return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    return decodeURIComponent(match[1]!);
  } catch {
    return match[1]!;
  }
}
