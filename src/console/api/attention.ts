// The operator's list of what is open.

import { call } from "../../pages/client";
import type { AttentionKind, AttentionPage } from "../types/attention";
import { OPERATOR, pageQuery } from "./operator";

export interface AttentionQuery {
  kind?: AttentionKind | "";
  app_id?: string;
  limit?: number;
  cursor?: string | null;
}

/** Asked again and again by an open page, which does not extend the session. */
export const attention = (query: AttentionQuery, isPoll = false) =>
  call<AttentionPage>(
    "GET",
    `${OPERATOR}/attention${pageQuery({ ...query })}`,
    undefined,
    isPoll ? { "X-Poll": "1" } : undefined,
  );
