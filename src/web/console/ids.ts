// How ids and credentials are written.

export const isAppId = (value: string) => /^[0-9]{8}$/.test(value);

/** Of a publisher, an advertiser or an offer. */
export const isId = (value: string) => /^[A-Za-z0-9-]{1,64}$/.test(value);

export const MAX_ID = 64;

// Report keys, advertisers' tokens, invites and callback secrets by their prefixes, and Pub-Keys.
const CREDENTIAL = /\b(sk|at|inv|whsec)_|\b[0-9a-f]{32}\b/i;

/** Whether a text has a credential in it, or may have one. */
export const isCredential = (text: string) => CREDENTIAL.test(text);
