// The keys of what the views of advertisers load.

export const ADVERTISERS_KEY = "advertisers";
export const advertiserKey = (advertiserId: string) => `advertiser ${advertiserId}`;
