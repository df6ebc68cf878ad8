// The operator's calls about the service.

import { call, get, post, remove } from "../../shared/client";
import { queryText } from "../../shared/query-text";
import type { AlarmAddress, AlarmsTested } from "../../shared/types";
import type * as T from "../types/service";
import { ask, OPERATOR } from "./operator";

const ALARMS = `${OPERATOR}/alarms`;

export const alarmsApi = {
  read: () => get<{ address: AlarmAddress | null }>(ALARMS),
  set: (url: string) => call<{ secret: string }>("PUT", ALARMS, { url }),
  end: () => remove(ALARMS),
  test: () => post<AlarmsTested>(`${ALARMS}/test`),
};

export const serviceApi = {
  service: (isPoll = false) => ask<T.Service>(`${OPERATOR}/service`, isPoll),
  /** The callback states of the next page of apps. The service asks each app for its state. */
  callbacks: (cursor: string | null) => get<T.CallbackPage>(`${OPERATOR}/callbacks${queryText({ cursor })}`),
  publish: () => post<{ tracking_version: number; listing_version: number }>(`${OPERATOR}/refresh`),
};
