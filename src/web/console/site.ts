// Facts about the console that the shared code needs and imports as `#site`. Facts about the session are in `#session`.

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

/** The receiver of callbacks and the reviewer of held rewards, as this site's texts call them. */
export const RECEIVER = "the publisher's receiver";
export const REVIEWER = "an operator";
