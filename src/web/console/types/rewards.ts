// Rewards of an app, as the operator's API has them.

import type { RewardDelivery, RewardState, RewardStory } from "../types";

export interface Entry {
  transaction_id: string;
  /** The reward that a reversal takes back or a notice is about. */
  original_transaction_id?: string;
  /** Null once it is erased. */
  user_id: string | null;
  offer_id: string;
  goal_id: string;
  txn?: string;
  click_ts: number;
  conversion_ts: number;
  payout?: number;
  value?: number;
  status: RewardState;
  /** Of its callback; null while there is nothing to send. */
  state: RewardDelivery | "refused" | null;
  /** Why it is held or was refused. */
  code?: string;
  /** In the words of the advertiser or of an operator. */
  reason?: string;
  next_try_ts?: number;
  attempts: { at: number; http_status: number | null }[];
}

export interface EntryPage {
  conversions: Entry[];
  cursor: string | null;
}

export interface EntryQuery {
  status?: RewardState;
  state?: RewardDelivery;
  reason?: string;
  user_id?: string;
}

export interface OperatorStory extends RewardStory {
  publisher_id?: string;
}

export type Settling = "approve" | "reject" | "reverse";

export interface Settlement {
  reason: string;
  /** Of an approval, the reasons against it that are overridden. */
  despite?: string[];
}

export interface ManyFilter {
  status: RewardState;
  reason?: string;
  user_id?: string;
  /** UNIX seconds: the first one, and the one after the last. */
  since?: number;
  until?: number;
}

export interface SettlementOfMany extends Settlement {
  filter: ManyFilter;
  dry_run?: boolean;
  /** `next` of the answer before. */
  after?: string;
}

export interface SettledMany {
  count: number;
  until: number;
  settled?: number;
  refused?: Record<string, number>;
  /** Where to go on, if there is more. Each answer counts its own part. */
  next: string | null;
}

export interface Erased {
  erased: number;
  /** They are cleared once their callback is done. */
  waiting: number;
}
