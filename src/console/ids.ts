// How ids are written.

export const isAppId = (value: string) => /^[0-9]{8}$/.test(value);

/** Of a publisher, an advertiser or an offer. */
export const isId = (value: string) => /^[A-Za-z0-9-]{1,64}$/.test(value);

export const LONGEST_ID = 64;
