// State of the reports view. The URL's query holds all of it, so that a link shows the same report.

import { daysIn, isDate } from "../../../shared/format";
import { stored } from "../../../shared/stored";
import type { DateRange, Dimension, Filter, Metric, Order } from "../../types";
import { DIMENSIONS, MAX_DAYS } from "../../report-facts";
import { isDimension, isMetric, METRICS, metricBlocked } from "./columns";
import { type Days, type Preset, PRESETS, presetRange } from "./periods";

export interface ReportState {
  range: Preset | DateRange;
  dimensions: Dimension[];
  metrics: Metric[];
  filters: Filter[];
  order: Order;
  page: number;
  size: number;
  compare: boolean;
  /** Sorts by the change of a metric and not by its value. */
  byChange: boolean;
  chart: "line" | "bar";
  plot: Metric;
  split: Dimension | null;
}

export const PAGE_SIZES = [25, 50, 100, 250, 1000];
const DEFAULT_SIZE = 50;
// Without eCPM, which would mislead: it includes the offerwall's revenue, and the offerwall has no impressions.
const DEFAULT_METRICS: Metric[] = ["revenue", "impressions", "clicks"];

// Dates are chosen by the range, not by a filter.
export const FILTER_DIMENSIONS = DIMENSIONS.filter((dimension) => dimension !== "date");

export const usesAdTag = (state: Pick<ReportState, "dimensions" | "filters" | "split">) =>
  state.dimensions.includes("ad_tag") ||
  state.split === "ad_tag" ||
  state.filters.some((filter) => filter.dimension === "ad_tag");

/** Dates are sorted newest first, and other rows by the first metric. */
export const defaultOrder = (dimensions: Dimension[], metrics: Metric[]): Order => ({
  column: dimensions.includes("date") ? "date" : metrics[0]!,
  ascending: false,
});

export function resolveRange(range: Preset | DateRange, days: Days): DateRange {
  return typeof range === "string" ? presetRange(range, days) : range;
}

export function parseRange(text: string | null): Preset | DateRange {
  const preset = PRESETS.find((name) => name === text);
  if (preset) return preset;
  const [start = "", end = ""] = (text ?? "").split("_");
  const isRange = isDate(start) && isDate(end) && start <= end && daysIn(start, end) <= MAX_DAYS;
  return isRange ? { start_date: start, end_date: end } : "last_30";
}

function list<Name extends string>(text: string | null, known: readonly Name[], otherwise: Name[]): Name[] {
  const names = (text ?? "").split(",");
  const chosen = known.filter((name) => names.includes(name));
  return chosen.length > 0 ? chosen : otherwise;
}

export function parseState(search: string): ReportState {
  const params = new URLSearchParams(search);
  const state: ReportState = {
    range: parseRange(params.get("range")),
    dimensions: list(params.get("by"), DIMENSIONS, ["date"]),
    metrics: list(params.get("metrics"), METRICS, DEFAULT_METRICS),
    filters: FILTER_DIMENSIONS.map((dimension) => ({ dimension, values: params.getAll(dimension) })).filter(
      (filter) => filter.values.length > 0,
    ),
    order: { column: "date", ascending: false },
    page: Math.max(1, Math.floor(Number(params.get("page"))) || 1),
    size: PAGE_SIZES.find((size) => String(size) === params.get("rows")) ?? DEFAULT_SIZE,
    compare: params.get("compare") === "1",
    byChange: params.get("by_change") === "1",
    chart: params.get("chart") === "bar" ? "bar" : "line",
    plot: "revenue",
    split: FILTER_DIMENSIONS.find((name) => name === params.get("split")) ?? null,
  };
  const sort = params.get("sort");
  const plot = params.get("plot");
  return repair({
    ...state,
    order: sort
      ? { column: sort.replace(/^-/, "") as Order["column"], ascending: !sort.startsWith("-") }
      : defaultOrder(state.dimensions, state.metrics),
    plot: plot && isMetric(plot) ? plot : state.metrics[0]!,
  });
}

/** Turns any state into one that the API accepts: after a change, or from a URL that was written by hand. */
export function repair(state: ReportState): ReportState {
  const adTag = usesAdTag(state);
  const allowed = state.metrics.filter((metric) => !metricBlocked(metric, adTag));
  const metrics = allowed.length > 0 ? allowed : DEFAULT_METRICS;
  const { column } = state.order;
  const isSortable = isMetric(column)
    ? metrics.includes(column)
    : isDimension(column) && state.dimensions.includes(column);
  return {
    ...state,
    byChange: state.compare && state.byChange,
    metrics,
    order: isSortable ? state.order : defaultOrder(state.dimensions, metrics),
    plot: metrics.includes(state.plot) ? state.plot : metrics[0]!,
  };
}

export const rangeText = (range: Preset | DateRange) =>
  typeof range === "string" ? range : `${range.start_date}_${range.end_date}`;

/** The URL's query for a page on which people choose only the dates. */
export const rangeQuery = (range: Preset | DateRange) => (range === "last_30" ? "" : `?range=${rangeText(range)}`);

export function formatState(state: ReportState): string {
  const params = new URLSearchParams();
  const { range, order } = state;
  if (range !== "last_30") params.set("range", rangeText(range));
  if (state.dimensions.join() !== "date") params.set("by", state.dimensions.join());
  if (state.metrics.join() !== DEFAULT_METRICS.join()) params.set("metrics", state.metrics.join());
  for (const filter of state.filters) for (const value of filter.values) params.append(filter.dimension, value);
  const usual = defaultOrder(state.dimensions, state.metrics);
  if (order.column !== usual.column || order.ascending !== usual.ascending) {
    params.set("sort", (order.ascending ? "" : "-") + order.column);
  }
  if (state.page !== 1) params.set("page", String(state.page));
  if (state.size !== DEFAULT_SIZE) params.set("rows", String(state.size));
  if (state.compare) params.set("compare", "1");
  if (state.byChange) params.set("by_change", "1");
  if (state.chart === "bar") params.set("chart", "bar");
  if (state.plot !== state.metrics[0]) params.set("plot", state.plot);
  if (state.split) params.set("split", state.split);
  // Commas stay readable in a URL.
  const text = params.toString().replaceAll("%2C", ",");
  return text ? `?${text}` : "";
}

const COLUMNS_KEY = "report-columns";

/** The browser keeps the metrics that were chosen last. */
export const rememberColumns = (metrics: Metric[]) => stored(COLUMNS_KEY, metrics.join());

/** The query of the page before anything was chosen. */
export const usualQuery = () => formatState(parseState(`?metrics=${stored(COLUMNS_KEY) ?? ""}`));
