// Dimensions and metrics of reports. Written from src/domain/reporting by tests/repository/page_facts.rs.

import type { Unit } from "../shared/format";
import type { Dimension, Metric } from "./types";

export const DIMENSIONS: readonly Dimension[] = [
  "date",
  "app",
  "country",
  "placement_id",
  "ad_tag",
  "demand_source",
  "sdk_v",
];

export const METRIC_UNITS: Record<Metric, Unit> = {
  ad_requests: "count",
  ad_responses: "count",
  impressions: "count",
  clicks: "count",
  revenue: "money",
  ecpm: "money",
  fill_rate: "ratio",
  show_rate: "ratio",
  click_rate: "ratio",
};

// A rate without any of its divisor is unknown, which is not the same as 0.
export const DIVISORS: Partial<Record<Metric, Metric>> = {
  ecpm: "impressions",
  fill_rate: "ad_requests",
  show_rate: "ad_responses",
  click_rate: "impressions",
};

// Requests and responses are counted before an ad tag is known, so no number exists for the pair.
export const WITHOUT_AD_TAG: readonly Metric[] = ["ad_requests", "ad_responses", "fill_rate", "show_rate"];

// The most days of a report.
export const MAX_DAYS = 91;

// The demand source of the facts that Signpost counts itself.
export const OWN_DEMAND_SOURCE = "offerwall";
