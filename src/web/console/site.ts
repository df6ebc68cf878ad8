// What the code of both sites has to know of the console; it is imported as `#site`. What it has to know of the session is
// imported as `#session`.

import type { Role } from "../shared/types";

/** The name in the paths of the pages and of their calls. */
export const NAME = "console";
/** The first call, which the shell preloads. */
export const FIRST = "/session";
/** Calls that only read, although they have a body. */
export const READS =
  /^\/v1\/operator\/(search|postback_check|offer_figures|publisher_figures|offers\/[^/]+\/preview|apps\/[^/]+\/conversions)$/;

/** The roles of members, the highest first. */
export const ROLES: Role[] = ["admin", "support"];
export const HIGHEST = "admin";

/** Who gets callbacks, and who checks what is held, in the words of the site's readers. */
export const RECEIVER = "the publisher's receiver";
export const REVIEWER = "an operator";
