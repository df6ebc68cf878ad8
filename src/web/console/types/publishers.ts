// Types of publishers, their people, keys and facts. They follow openapi.yaml.

import type { Role } from "../types";
import type { CallbackState } from "./apps";

/** What is written of a publisher. */
export interface PublisherDocument {
  name: string;
  approved: boolean;
  /** With so many apps it sets up no more by itself. */
  max_apps?: number | null;
}

export interface Publisher extends PublisherDocument {
  publisher_id: string;
}

/** Sums of 30 days over the apps that have had a conversion. */
export interface PublisherFigures {
  apps: number;
  approved: number;
  pending: number;
  held: number;
  /** What was approved, less what was taken back. */
  payout_usd: number;
  dead_callbacks: number;
  disabled_callbacks: number;
}

export interface PublisherPage {
  publishers: Publisher[];
  cursor: string | null;
}

export interface PubKeyRequest {
  requested_at: number;
  requested_by: string;
  reason: string;
}

export interface PubKey {
  pub_key: string;
}

export interface PublisherMember {
  member_id: string;
  name: string;
  role: Role;
  created_at: number;
  last_seen_at: number | null;
  passkeys: number;
}

export interface PublisherInvite {
  invite_id: string;
  name: string;
  role: Role;
  expires_at: number;
  by: string;
  is_recovery: boolean;
}

export interface People {
  members: PublisherMember[];
  invites: PublisherInvite[];
}

export interface RewardCounts {
  approved: number;
  pending: number;
  held: number;
  rejected: number;
  reversed: number;
  refused: number;
  approved_micro_usd: number;
  /** Negative. */
  reversed_micro_usd: number;
}

export interface Endpoint {
  state: CallbackState;
  /** When it was disabled. */
  since: number | null;
  waiting: number;
  dead: number;
}

export interface Activity {
  behind_ms: number;
  days: (RewardCounts & { date: string })[];
  /** The apps that have had a conversion. */
  apps: (RewardCounts & { app_id: string; endpoint: Endpoint })[];
}

/** Sums of a day's rows. */
export interface DaySums {
  segments: number;
  rows: number;
  ad_requests: number;
  ad_responses: number;
  impressions: number;
  clicks: number;
  /** USD. */
  revenue: number;
}

export interface FactsDay {
  date: string;
  /** What was loaded, when it was last loaded, and by whom. */
  loaded?: DaySums & { loaded_at?: number; loaded_by?: string };
  /** What Signpost counted. */
  offers?: DaySums;
}

export interface FactsPage {
  days: FactsDay[];
  cursor: string | null;
}
