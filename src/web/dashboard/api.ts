// The dashboard's calls: by their paths, and those that need more than a path.

import { patch, post } from "../shared/api";
import { ifMatch } from "../shared/client";
import { rememberNames } from "./labels";
import type { App, OwnAppChange, Query } from "./types";

export { get, post, put, remove } from "../shared/api";

export const reports = (queries: Query[]) => post("/reports", {}, { queries }).then(rememberNames);

/** Refused with 412 if the app has changed since it was read. */
export const changeApp = ({ app_id, revision }: App, change: OwnAppChange) =>
  patch("/apps/{app_id}", { app_id }, change, ifMatch(`"${revision}"`));
