// Types of the operator's interface, as the console sees it. They follow openapi.yaml.

import type { Notice, SignedIn } from "../shared/types";

export * from "../shared/types";

export interface ConsoleSession {
  member: SignedIn;
  notices: Notice[];
  today: string;
  /** By the server's clock, in UNIX seconds. */
  now: number;
  has_dashboard: boolean;
}
