// The keys of answers in the cache. A change refreshes answers by these keys.

export const PUBLISHERS_KEY = "publishers";
export const REQUESTS_KEY = "pub_key_requests";
export const publisherKey = (publisherId: string) => `publisher ${publisherId}`;
export const activityKey = (publisherId: string) => `activity ${publisherId}`;
export const appKey = (appId: string) => `app ${appId}`;

export const NEAR_CAPS_KEY = "near caps";
/** The key of the offers that match a filter, or of all. */
export const offersKey = (filter = "") => `offers ${filter}`;
export const offerKey = (offerId: string) => `offer ${offerId}`;
export const termsKey = (offerId: string) => `offer terms ${offerId}`;
export const figuresKey = (offerId: string) => `offer figures ${offerId}`;

/** The key of the advertisers whose ID or name contains a text, or of all. */
export const advertisersKey = (text = "") => `advertisers ${text}`;
export const ADVERTISER_NAMES_KEY = "advertiser names";
export const advertiserKey = (advertiserId: string) => `advertiser ${advertiserId}`;
