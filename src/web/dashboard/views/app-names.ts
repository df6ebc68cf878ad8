// The names of the account's apps.

import { type AppNames, useNames } from "../../shared/app-names";
import { pageOf } from "../../shared/page-of";
import { get } from "../api";
import type { OwnAppSummary } from "../types";

// Each page has 100 apps.
const MAX_PAGES = 20;

export const appPage = (cursor: string | null) => get("/apps", { cursor }).then(pageOf("apps"));

export const useAppNames = (): AppNames<OwnAppSummary> => useNames(appPage, MAX_PAGES);
