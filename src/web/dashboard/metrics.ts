// Units of the metrics, and their values as text.

import { formatUnit, type Unit } from "../shared/format";
import type { Metric } from "./types";

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

export const metricValue = (metric: Metric, value: number) => formatUnit(METRIC_UNITS[metric], value);
