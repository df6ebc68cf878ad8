// The items of the list that are rewards to decide.

import { may } from "../../session";
import type { AttentionItem } from "../../types";
import type { Settling } from "../../messages/rewards";

/** The action that somebody chose for the ticked rewards. */
export interface Asked {
  action: Settling;
  items: AttentionItem[];
}

export const keyOf = ({ app_id, subject }: AttentionItem) => `${app_id} ${subject}`;

/** True if the item is a reward to decide, and the member may decide it. */
export const isToDecide = ({ kind, app_id }: AttentionItem) =>
  (kind === "held" || kind === "capped") && app_id !== null && may("manage");
