// Keys of apps in the cache.

export const APPS_KEY = "apps";
export const appKey = (appId: string) => `app ${appId}`;
