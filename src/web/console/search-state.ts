// The state of the search. It is in the URL's fragment, which no server sees. A credential stays in memory, because the
// history keeps fragments and some browsers send their history to other devices.

import { signal } from "@preact/signals";
import { fragment, navigate } from "../shared/navigation";
import { generation } from "../shared/session";
import { isCredential } from "./ids";
import { SEARCH_PATH } from "./router";

export interface SearchState {
  text: string;
  /** Empty if no app was chosen. */
  app: string;
}

/** The credential that was pasted last, with the account that was signed in. */
const pasted = signal<(SearchState & { account: number }) | null>(null);

/** Opens the search for a text. With `replace`, it removes a credential that a link put into the URL. */
export function openSearch(state: SearchState, how: "push" | "replace" = "push") {
  const isSecret = isCredential(state.text);
  pasted.value = isSecret ? { ...state, account: generation.peek() } : null;
  navigate(SEARCH_PATH + (isSecret ? "" : searchHash(state)), how);
}

/** The text that is searched for. */
export function currentSearch(): SearchState {
  const state = parseSearch(fragment.value);
  if (state.text) return state;
  return pasted.value?.account === generation.value ? pasted.value : state;
}

const searchHash = ({ text, app }: SearchState) => `#${new URLSearchParams({ text, ...(app && { app }) })}`;

export function parseSearch(hash: string): SearchState {
  const values = new URLSearchParams(hash.slice(1));
  return { text: (values.get("text") ?? "").trim(), app: values.get("app") ?? "" };
}

/** The key of the search's answer in the cache. */
export const searchKey = ({ text, app }: SearchState) => `search ${app} ${text}`;
