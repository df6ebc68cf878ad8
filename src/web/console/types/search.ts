// What a pasted text can be.

import type { RewardState } from "../types";
import type { Entry } from "./rewards";

export interface UserMatch {
  kind: "user";
  app_id: string;
  user_id: string;
  /** The newest 100. */
  rewards: Entry[];
}

export interface ClickMatch {
  kind: "click";
  is_expired?: undefined;
  app_id: string;
  offer_id: string;
  goal_id: string;
  user_id: string;
  /** UNIX seconds. */
  clicked_at: number;
  country: string | null;
  placement_id: string | null;
  gaid?: string | null;
  idfa?: string | null;
  c1?: string | null;
  c2?: string | null;
  c3?: string | null;
  c4?: string | null;
  c5?: string | null;
  /** Revisions. */
  offer_terms: number;
  app_terms: number;
  shard: number;
  rewards: { transaction_id: string; goal_id: string; state: RewardState }[];
}

/** The click of a short id whose record has left: what it was of is not known any more. */
export interface ExpiredClick {
  kind: "click";
  is_expired: true;
  app_id: string;
  shard: number;
  rewards: ClickMatch["rewards"];
}

/** What has a page of its own. */
export type PageMatch =
  | { kind: "publisher"; publisher_id: string; name: string; approved: boolean }
  | { kind: "app"; app_id: string; name: string; publisher_id: string }
  | { kind: "advertiser"; advertiser_id: string; name: string }
  | { kind: "offer"; offer_id: string; name: string; advertiser_id: string; active: boolean }
  | { kind: "goal"; goal_id: string; offer_id: string; title: string }
  | { kind: "report_key"; publisher_id: string; is_issued: boolean; key_id: string | null; label: string | null }
  | { kind: "pub_key"; publisher_id: string }
  | { kind: "token"; advertiser_id: string; token_id: string; is_issued: boolean; is_valid: boolean }
  | { kind: "reward"; app_id: string; transaction_id: string; state: RewardState };

export type Match = PageMatch | UserMatch | ClickMatch | ExpiredClick;

export interface Found {
  matches: Match[];
  /** It could be a user's id or a transaction's, which are those of an app. */
  needs_app: boolean;
  /** A part of the store did not answer, so there may be more. */
  is_incomplete: boolean;
}
