// How the service is doing.

import type { CallbackState } from "./apps";

export interface Service {
  /** Null while the catalog does not answer. */
  catalog: {
    publishers: number;
    apps: number;
    advertisers: number;
    offers: number;
    bytes: number;
    /** Milliseconds; null before the first, and while nothing waits. */
    tracking_built_at_ms: number | null;
    listing_built_at_ms: number | null;
    tracking_dirty_since_ms: number | null;
  } | null;
  pools: Pool[];
  now_ms: number;
}

export interface CallbackPage {
  /** Unknown where the app did not answer. */
  callbacks: { app_id: string; state: CallbackState | "unknown" }[];
  cursor: string | null;
}

export interface Pool {
  name: string;
  in_use: number;
  permits: number;
  refused: number;
}

