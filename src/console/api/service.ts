// The operator's calls about the service.

import { call, get, post } from "../../pages/client";
import type * as T from "../types/service";
import { OPERATOR, pageQuery } from "./operator";

const POLL = { "X-Poll": "1" };

export const serviceApi = {
  service: (isPoll = false) => call<T.Service>("GET", `${OPERATOR}/service`, undefined, isPoll ? POLL : undefined),
  publish: () => post<{ tracking_version: number; listing_version: number }>(`${OPERATOR}/refresh`),
  caps: () => get<{ caps: T.CapNearEnd[]; as_of: number | null }>(`${OPERATOR}/caps?limit=20`),
  endpoints: (limit: number, cursor: string | null) =>
    get<T.EndpointPage>(`${OPERATOR}/callbacks${pageQuery({ limit, cursor })}`),
  reconcile: (app: string, date: string) => get<T.Comparison>(`${OPERATOR}/reconcile${pageQuery({ app, date })}`),
};
