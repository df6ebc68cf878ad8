// The names of apps, for views that know apps by their App-Ids.

import { useCached } from "./cache";
import type { ListPage } from "./page-of";

interface NamedApp {
  app_id: string;
  name: string;
}

export interface AppNames<App extends NamedApp> {
  apps: App[];
  /** The App-Id itself if the name is unknown. */
  nameOf: (appId: string) => string;
}

/** Loads at most this many pages of the site's list. */
export function useNames<App extends NamedApp>(
  load: (cursor: string | null) => Promise<ListPage<App>>,
  mostPages: number,
): AppNames<App> {
  const loadAll = async () => {
    const apps: App[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < mostPages && (page === 0 || cursor !== null); page += 1) {
      const answer: ListPage<App> = await load(cursor);
      apps.push(...answer.rows);
      cursor = answer.cursor;
    }
    return apps;
  };
  const apps = useCached("app names", loadAll).data ?? [];
  const names = new Map(apps.map(({ app_id, name }) => [app_id, name]));
  return { apps, nameOf: (appId) => names.get(appId) ?? appId };
}
