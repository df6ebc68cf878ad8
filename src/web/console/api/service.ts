// The operator's calls about the service.

import { get, post } from "../../shared/client";
import { queryText } from "../../shared/query-text";
import type * as T from "../types/service";
import { ask, OPERATOR } from "./operator";

export const serviceApi = {
  service: (isPoll = false) => ask<T.Service>(`${OPERATOR}/service`, isPoll),
  /** How the callbacks of the next apps are doing, asked of each app. */
  callbacks: (cursor: string | null) => get<T.CallbackPage>(`${OPERATOR}/callbacks${queryText({ cursor })}`),
  publish: () => post<{ tracking_version: number; listing_version: number }>(`${OPERATOR}/refresh`),
};
