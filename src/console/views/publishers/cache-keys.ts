// Names of answers in the cache.

export const PUBLISHERS_KEY = "publishers";
export const REQUESTS_KEY = "pub_key_requests";
export const publisherKey = (publisherId: string) => `publisher ${publisherId}`;
export const activityKey = (publisherId: string) => `activity ${publisherId}`;
export const appKey = (appId: string) => `app ${appId}`;
