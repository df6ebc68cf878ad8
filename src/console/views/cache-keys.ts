// The names of answers in the cache. A change refreshes them by these.

export const PUBLISHERS_KEY = "publishers";
export const REQUESTS_KEY = "pub_key_requests";
export const publisherKey = (publisherId: string) => `publisher ${publisherId}`;
export const activityKey = (publisherId: string) => `activity ${publisherId}`;
export const appKey = (appId: string) => `app ${appId}`;

export const NEAR_CAPS_KEY = "near caps";
/** Of one advertiser, or of all. */
export const offersKey = (advertiserId = "") => `offers ${advertiserId}`;
export const offerKey = (offerId: string) => `offer ${offerId}`;
export const termsKey = (offerId: string) => `offer terms ${offerId}`;
export const figuresKey = (offerId: string) => `offer figures ${offerId}`;

export const ADVERTISERS_KEY = "advertisers";
export const ADVERTISER_NAMES_KEY = "advertiser names";
export const advertiserKey = (advertiserId: string) => `advertiser ${advertiserId}`;
