// Dimensions and metrics of reports, and which of them do not go together.

import { METRIC_NAMES, reports } from "../../messages";
import type { Dimension, Metric } from "../../types";

export const DIMENSIONS: readonly Dimension[] = [
  "date",
  "app",
  "country",
  "placement_id",
  "ad_tag",
  "demand_source",
  "sdk_v",
];

export const METRICS: readonly Metric[] = [
  "revenue",
  "ecpm",
  "impressions",
  "clicks",
  "click_rate",
  "ad_requests",
  "ad_responses",
  "fill_rate",
  "show_rate",
];

// Requests and responses are counted before an ad tag is known, so no number exists for the pair.
const WITHOUT_AD_TAG: readonly Metric[] = ["ad_requests", "ad_responses", "fill_rate", "show_rate"];

/** Why a metric cannot be chosen, where the ad tag is in use. */
export const metricBlocked = (metric: Metric, usesAdTag: boolean): string | undefined =>
  usesAdTag && WITHOUT_AD_TAG.includes(metric) ? reports.adTagRule : undefined;

/** Why the ad tag cannot be chosen beside these metrics. */
export function adTagBlocked(metrics: Metric[]): string | undefined {
  const clashing = metrics.filter((metric) => WITHOUT_AD_TAG.includes(metric));
  return clashing.length > 0
    ? reports.adTagBlocked(clashing.map((metric) => METRIC_NAMES[metric]).join(", "))
    : undefined;
}

export const isMetric = (name: string): name is Metric => (METRICS as readonly string[]).includes(name);
export const isDimension = (name: string): name is Dimension => (DIMENSIONS as readonly string[]).includes(name);
