// Limits of the service that fields enforce.

/** Maximum length of the name of a publisher, an app or an advertiser, in characters. */
export const MAX_NAME = 200;
/** Maximum length of a member's name, in characters. */
export const MAX_MEMBER_NAME = 64;
