// How the service is doing.

import type { CallbackState, DayRewards } from "./apps";

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
  /** Those of the instance that answered. */
  pools: Pool[];
  /** Null while the object `attention` does not answer. */
  reported: Reported | null;
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

export interface Reported {
  /** Of the instances of edge and origin. */
  isolates: ReportedFigure[];
  rewards: DayRewards & { date: string; apps: (DayRewards & { app_id: string })[] };
}

/** The sum over instances that reported something new within 24 hours. Each counts since it started. */
export interface ReportedFigure {
  figure: "shed" | "postbacks" | "unhealthy" | "clicks_uncounted" | "snapshot_age_s" | "panics" | "memory_bytes";
  /** The concurrency limit of what was shed, the outcome of postbacks, the reason of failed checks. */
  kind?: string;
  /** Of memory and of the snapshot's age, that of the worst instance. */
  number: number;
  isolates: number;
  last_ms: number;
}
