// The base path of the operator's calls, and code that they share.

import { call } from "../../shared/client";

export const OPERATOR = "/v1/operator";

/** Makes a read call, which an open page may repeat as a poll. A poll does not extend the session. */
export const ask = <Result>(path: string, isPoll: boolean) =>
  call<Result>("GET", path, undefined, isPoll ? { "X-Poll": "1" } : undefined);
