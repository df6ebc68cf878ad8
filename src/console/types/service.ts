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

export interface Pool {
  name: string;
  in_use: number;
  permits: number;
  refused: number;
}

export interface Endpoint {
  app_id: string;
  publisher_id: string;
  /** Unknown where the app did not answer. */
  state: CallbackState | "unknown";
  consecutive_failures?: number;
  next_try_ts?: number | null;
  waiting?: number;
  dead?: number;
  reserving?: number;
}

export interface EndpointPage {
  callbacks: Endpoint[];
  cursor: string | null;
}
