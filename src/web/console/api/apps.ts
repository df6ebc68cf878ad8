// Calls about apps: the document, the callback, and the comparison of a day.

import { get, getTagged, id, post, putTagged, type Tagged } from "../../shared/client";
import { queryText } from "../../shared/query-text";
import type * as T from "../types/apps";
import { OPERATOR } from "./operator";

const of = (appId: string) => `${OPERATOR}/apps/${id(appId)}`;

export const appsApi = {
  list: (limit: number, cursor: string | null, publisher_id = "") =>
    get<T.AppPage>(`${OPERATOR}/apps${queryText({ publisher_id, limit, cursor })}`),
  read: (appId: string) => getTagged<T.App>(of(appId)),
  callback: (appId: string) => get<T.CallbackHealth>(`${of(appId)}/callback`),
  enableCallback: (appId: string) => post<T.CallbackHealth>(`${of(appId)}/callback/enable`),
  testCallback: (appId: string) => post<T.CallbackTest>(`${of(appId)}/callback_test`),
  reconcile: (appId: string, date: string) =>
    get<T.Comparison>(`${OPERATOR}/reconcile${queryText({ app: appId, date })}`),

  /** Refused with 412 if the app has changed since it was read, because its publisher can also change it. */
  change: (seen: Tagged<T.App>, change: Partial<T.AppDocument>) => {
    const { app_id, terms_revision: _, ...document } = seen;
    return putTagged<T.App>(of(app_id), { ...document, ...change }, seen);
  },
};
