// Calls about apps: the document, the callback, and the comparison of a day.

import { ApiError, get, id, post, put } from "../../pages/client";
import { queryText } from "../../pages/query-text";
import type * as T from "../types/apps";
import { OPERATOR } from "./operator";

const of = (appId: string) => `${OPERATOR}/apps/${id(appId)}`;

export const appsApi = {
  list: (limit: number, cursor: string | null, publisher_id = "") =>
    get<T.AppPage>(`${OPERATOR}/apps${queryText({ publisher_id, limit, cursor })}`),
  read: (appId: string) => get<T.App>(of(appId)),
  callback: (appId: string) => get<T.CallbackHealth>(`${of(appId)}/callback`),
  enableCallback: (appId: string) => post<T.CallbackHealth>(`${of(appId)}/callback/enable`),
  testCallback: (appId: string) => post<T.CallbackTest>(`${of(appId)}/callback_test`),
  reconcile: (appId: string, date: string) => get<T.Comparison>(`${OPERATOR}/reconcile${queryText({ app: appId, date })}`),

  /**
   * Changes fields of an app as it is kept at this moment, since its publisher changes others. 412 where one of these
   * fields is not as it was shown.
   */
  change: async (shown: T.App, change: Partial<T.AppDocument>): Promise<T.App> => {
    const kept = await appsApi.read(shown.app_id);
    const fields = Object.keys(change) as (keyof T.AppDocument)[];
    const isAsShown = (field: keyof T.AppDocument) =>
      JSON.stringify(kept[field] ?? null) === JSON.stringify(shown[field] ?? null);
    if (!fields.every(isAsShown)) throw new ApiError(412, "changed", "", null, null);
    const { app_id, terms_revision: _, ...document } = kept;
    return put<T.App>(of(app_id), { ...document, ...change });
  },
};
