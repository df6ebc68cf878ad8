// The operator's list of open items.

import { remove } from "../../shared/client";
import { queryText } from "../../shared/query-text";
import type { AttentionKind, AttentionPage } from "../types/attention";
import { ask, OPERATOR } from "./operator";

interface AttentionQuery {
  kind?: AttentionKind | "";
  app_id?: string;
  limit?: number;
  cursor?: string | null;
}

export const attention = (query: AttentionQuery, isPoll = false) =>
  ask<AttentionPage>(`${OPERATOR}/attention${queryText({ ...query })}`, isPoll);

/** Ends an item that stays until a person ends it. */
export const endItem = (itemId: string) => remove(`${OPERATOR}/attention/${itemId}`);
