// The state of the search, as the fragment of its address.

export interface SearchState {
  text: string;
  /** Empty where none was chosen. */
  app: string;
}

export const searchHash = ({ text, app }: SearchState) => `#${new URLSearchParams({ text, ...(app && { app }) })}`;

export function parseSearch(hash: string): SearchState {
  const values = new URLSearchParams(hash.slice(1));
  return { text: (values.get("text") ?? "").trim(), app: values.get("app") ?? "" };
}

/** The key of its answer in the page's memory. */
export const searchKey = ({ text, app }: SearchState) => `search ${app} ${text}`;
