// The names of the account's apps, for views that know apps by their App-Ids.

import { api } from "../api";
import { useCached } from "../../pages/cache";
import type { ListedApp } from "../types";

// 100 apps a page.
const MOST_PAGES = 20;

async function allApps(): Promise<ListedApp[]> {
  const apps: ListedApp[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await api.apps(cursor);
    apps.push(...answer.apps);
    cursor = answer.cursor;
    if (cursor === null) break;
  }
  return apps;
}

export interface AppNames {
  apps: ListedApp[];
  /** The App-Id itself where the name is not known. */
  nameOf: (appId: string) => string;
}

export function useAppNames(): AppNames {
  const apps = useCached("app names", allApps).data ?? [];
  const names = new Map(apps.map(({ app_id, name }) => [app_id, name]));
  return { apps, nameOf: (appId) => names.get(appId) ?? appId };
}
