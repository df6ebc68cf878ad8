// The operator's list of what is open.

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

/** Ends an item that a person ends. */
export const endItem = (itemId: string) => remove(`${OPERATOR}/attention/${itemId}`);
