// How the service is doing.

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

