// Facts about the dashboard that the shared code needs and imports as `#site`. Facts about the session are in
// `#session`.

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

/** The receiver of callbacks and the reviewer of held rewards, as this site's texts call them. */
export const RECEIVER = "your receiver";
export const REVIEWER = "your account manager";
