// Address of the page: which view is open, and the query string that holds its state.

import { computed, signal } from "@preact/signals";

export const SECTIONS = ["keys", "pub_key", "members", "passkeys", "sessions", "audit"] as const;
export type Section = (typeof SECTIONS)[number];

export type Route =
  { view: "overview" } | { view: "reports" } | { view: "settings"; section: Section | null } | { view: "missing" };

const ROOT = "/dashboard";

const address = signal({ path: location.pathname, search: location.search });

export const search = computed(() => address.value.search);

export const route = computed<Route>(() => {
  const [view, section, ...rest] = address.value.path.slice(ROOT.length).split("/").filter(Boolean);
  if (rest.length === 0) {
    if (view === undefined) return { view: "overview" };
    if (view === "reports" && section === undefined) return { view: "reports" };
    if (view === "settings") {
      if (section === undefined) return { view: "settings", section: null };
      const known = SECTIONS.find((name) => name === section);
      if (known) return { view: "settings", section: known };
    }
  }
  return { view: "missing" };
});

export const settingsPath = (section: Section) => `${ROOT}/settings/${section}`;
export const OVERVIEW_PATH = ROOT;
export const REPORTS_PATH = `${ROOT}/reports`;
export const SETTINGS_PATH = `${ROOT}/settings`;

// A new view takes the focus to its heading, once. The first page keeps the browser's own focus.
let headingWantsFocus: "no" | "focus" | "focus-and-scroll" = "no";

export function takeHeadingFocus() {
  const wanted = headingWantsFocus;
  headingWantsFocus = "no";
  return wanted;
}

/** The next heading that is shown takes the focus: after a sign-in or a sign-out. */
export function focusNextHeading() {
  headingWantsFocus = "focus-and-scroll";
}

function show(path: string, query: string, from: "link" | "history") {
  if (path !== address.peek().path) headingWantsFocus = from === "link" ? "focus-and-scroll" : "focus";
  address.value = { path, search: query };
}

export function navigate(href: string, how: "push" | "replace" = "push") {
  const url = new URL(href, location.href);
  if (url.pathname + url.search === location.pathname + location.search) return;
  if (how === "push") history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  show(url.pathname, url.search, "link");
}

/** Writes the view's state to the address. A replaced entry leaves no step for the back button. */
export function setSearch(query: string, how: "push" | "replace") {
  if (query === location.search) return;
  const href = location.pathname + query;
  if (how === "push") history.pushState(null, "", href);
  else history.replaceState(null, "", href);
  show(location.pathname, query, "link");
}

/** Opens links of the dashboard without loading a page; everything else is the browser's. */
export function startRouter() {
  addEventListener("popstate", () => show(location.pathname, location.search, "history"));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.("a");
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    // A fragment within the page, such as the skip link.
    if (link.hash && link.pathname === location.pathname) return;
    const inside = link.pathname === ROOT || link.pathname.startsWith(`${ROOT}/`);
    if (!inside || link.pathname.startsWith(`${ROOT}/assets/`)) return;
    event.preventDefault();
    navigate(link.href);
  });
}

// An invite stays only in memory: the address, the history and a copied link do not show it.
export function takeInvite(): string | null {
  const match = /^#invite=(.+)$/.exec(location.hash);
  if (!match) return null;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    return decodeURIComponent(match[1]!);
  } catch {
    return match[1]!;
  }
}
