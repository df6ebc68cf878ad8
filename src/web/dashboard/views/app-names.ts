// The names of the account's apps.

import { type AppNames, useNames } from "../../shared/app-names";
import { api } from "../api";
import type { ListedApp } from "../types";

// 100 apps a page.
const MOST_PAGES = 20;

const load = async (from: string | null) => {
  const { apps, cursor } = await api.apps(from);
  return { rows: apps, cursor };
};

export const useAppNames = (): AppNames<ListedApp> => useNames(load, MOST_PAGES);
