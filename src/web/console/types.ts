// Types of the operator's interface, as the console sees it.

import type { Schemas } from "../shared/api-types";

export * from "../shared/types";

export type ConsoleSession = Schemas["ConsoleSession"];
