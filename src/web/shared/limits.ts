// Limits of the service that fields enforce.

/** In characters: the name of a publisher, an app or an advertiser. */
export const MAX_NAME = 200;
/** In characters: a member's name. */
export const MAX_MEMBER_NAME = 64;
