// The operator's list of what is open.

import type { AttentionKind, AttentionPage } from "../types/attention";
import { ask, OPERATOR, pageQuery } from "./operator";

interface AttentionQuery {
  kind?: AttentionKind | "";
  app_id?: string;
  limit?: number;
  cursor?: string | null;
}

export const attention = (query: AttentionQuery, isPoll = false) =>
  ask<AttentionPage>(`${OPERATOR}/attention${pageQuery({ ...query })}`, isPoll);
