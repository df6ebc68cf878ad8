// What the code of both sites has to know of the dashboard; it is imported as `#site`. What it has to know of the session is
// imported as `#session`.

import type { Role } from "../shared/types";

/** The name in the paths of the pages and of their calls. */
export const NAME = "dashboard";
/** The first call, which the shell preloads. */
export const FIRST = "/overview";
/** Calls that only read, although they have a body. */
export const READS =
  /^\/v1\/dashboard\/(reports|suggestions|rewards|users\/export|apps\/\d+\/(offers|callback\/preview))$/;

/** The roles of members, the highest first. */
export const ROLES: Role[] = ["owner", "developer", "analyst", "user_support"];
export const HIGHEST = "owner";

/** Who gets callbacks, and who checks what is held, in the words of the site's readers. */
export const RECEIVER = "your receiver";
export const REVIEWER = "your account manager";
