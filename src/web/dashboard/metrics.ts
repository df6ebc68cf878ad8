// The values of metrics as text.

import { formatUnit } from "../shared/format";
import { METRIC_UNITS } from "./report-facts";
import type { Metric } from "./types";

export const metricValue = (metric: Metric, value: number) => formatUnit(METRIC_UNITS[metric], value);
