// Rewards of an app, as the operator's API has them.

import type { OperatorSchemas } from "../../shared/api-types";
import type { RewardDelivery, RewardState } from "../types";

export type Entry = OperatorSchemas["Entry"];
export type EntryPage = OperatorSchemas["EntryList"];
/** The query of the list. */
export interface EntryQuery {
  status?: RewardState;
  state?: RewardDelivery;
  reason?: string;
  user_id?: string;
}
export type OperatorStory = OperatorSchemas["RewardStory"];
/** The last segment of the three paths that settle rewards. */
export type Settling = "approve" | "reject" | "reverse";
export type Settlement = OperatorSchemas["Settlement"];
/** A reason that an approval may override. */
export type ReasonCode = NonNullable<Settlement["despite"]>[number];
export type SettlementOfMany = OperatorSchemas["SettlementOfMany"];
export type ManyFilter = SettlementOfMany["filter"];
export type SettledMany = OperatorSchemas["SettledMany"];
export type Erased = OperatorSchemas["Erased"];
