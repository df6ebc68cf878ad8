// Types of apps, their callbacks, and the comparison of a day. They follow openapi.yaml.

import type { CallbackAnswer, CallbackRequest } from "../types";

export type Platform = "ios" | "android" | "web";

export interface AppCallback {
  url: string;
  method: "GET" | "POST";
  /** Masked, like every secret that is read. */
  secret: string;
  previous_secret?: string | null;
  legacy_md5?: { secret: string } | null;
  events?: string[] | null;
}

/** What is written of an app. */
export interface AppDocument {
  publisher_id: string;
  name: string;
  platform: Platform;
  currency: { name: string; per_usd: number; decimals?: number; rounding?: "down" | "up" | "nearest" };
  callback?: AppCallback | null;
  fallback_url?: string | null;
  callback_ports?: number[];
  fallback_hosts?: string[];
  blocked_offers?: string[];
  max_rewards_per_user_day?: number | null;
  click_secret?: string | null;
  previous_click_secret?: string | null;
  outbox_shards?: number | null;
  /** UNIX seconds: clicks made before are paid by the current terms. */
  terms_since?: number | null;
}

export interface App extends AppDocument {
  app_id: string;
  terms_revision: number;
}

export interface AppPage {
  apps: App[];
  cursor: string | null;
}

export type CallbackState = "none" | "healthy" | "failing" | "disabled";

export interface CallbackHealth {
  state: CallbackState;
  consecutive_failures: number;
  next_try_ts: number | null;
  waiting: number;
  dead: number;
  /** Conversions whose cap is still to be asked for. */
  reserving: number;
}

export interface CallbackTest {
  request: CallbackRequest;
  response: CallbackAnswer | null;
  /** Why there was no answer. */
  error?: string;
}

export interface ComparedOutbox {
  outbox: number;
  rewards: number;
  reversals: number;
  paid_micro_usd: number;
  confirmed_micro_usd: number;
  waiting_micro_usd: number;
  difference_micro_usd: number;
}

/** The rewards of a day. */
export interface DayRewards {
  rewards: number;
  rewards_after_24_h: number;
  rewards_by_superseded_terms: number;
}

/** Sums are in micro-USD, rewards less reversals. */
export interface Comparison extends DayRewards {
  app_id: string;
  date: string;
  outboxes: ComparedOutbox[];
  paid_micro_usd: number;
  waiting_micro_usd: number;
  ledger_micro_usd: number;
  difference_micro_usd: number;
  transactions: { transaction_id: string; offer_id: string; paid_micro_usd: number }[];
}
