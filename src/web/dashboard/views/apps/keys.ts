// Keys of what is cached of apps.

export const APPS_KEY = "apps";
export const appKey = (appId: string) => `app ${appId}`;
