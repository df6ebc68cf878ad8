// The formats of ids and credentials.

export const isAppId = (value: string) => /^[0-9]{8}$/.test(value);

/** True for an ID of a publisher, an advertiser or an offer. */
export const isId = (value: string) => /^[A-Za-z0-9-]{1,64}$/.test(value);

export const MAX_ID = 64;

// Finds report keys, advertisers' tokens, invites and callback secrets by their prefixes, and Pub-Keys by their 32 hex
// digits.
const CREDENTIAL = /\b(sk|at|inv|whsec)_|\b[0-9a-f]{32}\b/i;

/** True if a text contains a credential, or something that looks like one. */
export const isCredential = (text: string) => CREDENTIAL.test(text);
