// The names of the first apps. There may be very many, so another one is named by its App-Id.

import { type AppNames, useNames } from "../pages/app-names";
import { appsApi } from "./api/apps";
import type { App } from "./types/apps";

const FIRST_APPS = 100;

const load = async (from: string | null) => {
  const { apps, cursor } = await appsApi.list(FIRST_APPS, from);
  return { rows: apps, cursor };
};

export const useAppNames = (): AppNames<App> => useNames(load, 1);
