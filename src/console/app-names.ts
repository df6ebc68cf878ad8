// Names of apps. The first ones are known; another app is named by its App-Id.

import { useCached } from "../pages/cache";
import { rewardsApi } from "./api/rewards";
import type { ListedApp } from "./types/rewards";

export interface AppNames {
  apps: ListedApp[];
  nameOf: (appId: string) => string;
}

export function useAppNames(): AppNames {
  const apps = useCached("app names", rewardsApi.apps).data?.apps ?? [];
  const names = new Map(apps.map(({ app_id, name }) => [app_id, name]));
  return { apps, nameOf: (appId) => names.get(appId) ?? appId };
}
