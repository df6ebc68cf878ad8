// Types of a reward's story and of replays, which both sites show.

export type CallbackEvent = "approved" | "reversed" | "pending" | "rejected";

export type RewardState = "pending" | "held" | "approved" | "rejected" | "reversed" | "refused";
export type RewardDelivery = "waiting" | "delivered" | "dead" | "not_wanted" | "no_endpoint";
/** A notice tells that a conversion is pending or was rejected, and pays nothing. */
export type RewardKind = "reward" | "reversal" | "notice";

export interface CallbackTry {
  at: number;
  ms: number;
  http_status: number | null;
  /** Not for analysts: the answer, and why there was none. */
  body?: string;
  error?: string;
}

export interface RewardCallback {
  transaction_id: string;
  event: CallbackEvent;
  delivery: RewardDelivery;
  value: string | number;
  payout: string | number;
  conversion_ts: number;
  next_try_ts: number | null;
  /** The values that each try sends, by their names; not for analysts. */
  fields?: Record<string, string | number | null>;
  /** The newest of them. */
  attempts: CallbackTry[];
  attempts_total: number;
}

interface RewardClick {
  country: string | null;
  placement: string | null;
  gaid: string | null;
  idfa: string | null;
  c1: string | null;
  c2: string | null;
  c3: string | null;
  c4: string | null;
  c5: string | null;
}

/** A reward's story. What analysts do not see is optional. */
export interface RewardStory {
  app_id: string;
  transaction_id: string;
  state: RewardState;
  offer_id: string;
  goal_id: string;
  value: string | number;
  payout: string | number;
  currency: string;
  click_ts: number;
  /** When its first postback came. */
  received_ts: number;
  /** When it reached its state or was paid. */
  conversion_ts: number;
  callbacks: RewardCallback[];
  code?: string | null;
  reason?: string | null;
  user_id?: string | null;
  is_erased?: boolean;
  goal_value?: string | null;
  txn?: string | null;
  click?: RewardClick;
  /** Revisions of terms. */
  terms?: { offer_at_click: number; app_at_click: number; offer_paying: number; is_superseded: boolean };
}

/** The conditions of a list or a replay. */
export interface RewardFilter {
  state?: RewardState;
  delivery?: RewardDelivery;
  http_status?: number;
  /** UNIX seconds: the first one, and the one after the last. */
  from?: number;
  until?: number;
  transaction_id?: string;
  user_id?: string;
}

export interface ReplayCount {
  count: number;
  until: number;
}

export interface ReplayProgress {
  state: "running" | "done" | "cancelled";
  replayed: number;
}
