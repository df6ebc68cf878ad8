// Dimensions and metrics of reports, and which of them do not go together.

import { METRIC_NAMES, reports } from "../../messages";
import { DIMENSIONS, WITHOUT_AD_TAG } from "../../report-facts";
import type { Dimension, Metric } from "../../types";

/** In the order in which the page shows the metrics. */
export const METRICS = Object.keys(METRIC_NAMES) as readonly Metric[];

/** Why a metric cannot be chosen while the ad tag is in use. */
export const metricBlocked = (metric: Metric, usesAdTag: boolean): string | undefined =>
  usesAdTag && WITHOUT_AD_TAG.includes(metric) ? reports.adTagRule : undefined;

/** Why the ad tag cannot be chosen together with these metrics. */
export function adTagBlocked(metrics: Metric[]): string | undefined {
  const clashing = metrics.filter((metric) => WITHOUT_AD_TAG.includes(metric));
  return clashing.length > 0
    ? reports.adTagBlocked(clashing.map((metric) => METRIC_NAMES[metric]).join(", "))
    : undefined;
}

export const isMetric = (name: string): name is Metric => (METRICS as readonly string[]).includes(name);
export const isDimension = (name: string): name is Dimension => (DIMENSIONS as readonly string[]).includes(name);
