// Where the operator's calls are, and what they have in common.

import { call } from "../../pages/client";

export const OPERATOR = "/v1/operator";

/** A query string of the parameters that are given. */
export function pageQuery(parameters: Record<string, string | number | null | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** A call that an open page repeats. A poll does not extend the session. */
export const ask = <Result>(path: string, isPoll: boolean) =>
  call<Result>("GET", path, undefined, isPoll ? { "X-Poll": "1" } : undefined);
