// The items of the list that are rewards to decide.

import { may } from "../../session";
import type { AttentionItem } from "../../types/attention";
import type { Settling } from "../../types/rewards";

/** What somebody asked to do with the ticked ones. */
export interface Asked {
  action: Settling;
  items: AttentionItem[];
}

export const keyOf = ({ app_id, subject }: AttentionItem) => `${app_id} ${subject}`;

/** Whether it is a reward that somebody has to decide. */
export const isToDecide = ({ kind, app_id }: AttentionItem) =>
  (kind === "held" || kind === "capped") && app_id !== null && may("manage");
