// The operator's calls about the service.

import { post } from "../../pages/client";
import type * as T from "../types/service";
import { ask, OPERATOR } from "./operator";

export const serviceApi = {
  service: (isPoll = false) => ask<T.Service>(`${OPERATOR}/service`, isPoll),
  publish: () => post<{ tracking_version: number; listing_version: number }>(`${OPERATOR}/refresh`),
};
