// Queries of the reports view. The first batch has the table, the totals and a plain chart; what depends on its answer
// (the lines of the largest values, the rows of the period before) follows in a second batch.

import type { Query, ReportResult, ReportRow } from "../../types";
import { cellValueOf } from "../../labels";
import { MAX_DAYS } from "../../report-facts";
import { type Comparison, comparison, type Days } from "./periods";
import { type ReportState, resolveRange } from "./state";
import { addDays } from "../../../shared/format";

// More lines than this cannot be told apart.
export const MAX_LINES = 5;
export const MAX_BARS = 10;

// Maximum rows in an answer. Sorting by change needs all rows of both periods. A page may need more rows of the period
// before than its own rows, because filters select every combination of the page's values. Rows that the answer lacks
// are not compared.
const MAX_ROWS = 1000;

/** The query of the table, of an export and of the curl command. */
export function mainQuery(state: ReportState, days: Days): Query {
  return {
    date_range: resolveRange(state.range, days),
    dimensions: state.dimensions,
    metrics: state.metrics,
    ...(state.filters.length > 0 && { filters: state.filters }),
    order_by: [state.order],
  };
}

export const FIRST_PARTS = ["table", "chart", "chartBefore", "totalsNow", "totalsBefore"] as const;
export const SECOND_PARTS = ["lines", "barsNow", "barsBefore", "rowsBefore", "rowsNow"] as const;

/** The queries of a batch, by the part of the report that each answers. A part that is not needed has no query. */
export type Batch<Name extends string> = Partial<Record<Name, Query>>;

export interface FirstBatch {
  queries: Batch<(typeof FIRST_PARTS)[number]>;
  compared: Comparison | null;
}

export function firstBatch(state: ReportState, days: Days): FirstBatch {
  const main = mainQuery(state, days);
  const compared = state.compare ? comparison(main.date_range, days) : null;
  const pagination = state.byChange ? { page: 1, count: MAX_ROWS } : { page: state.page, count: state.size };
  const top: Query = { ...main, metrics: [state.plot], order_by: [{ column: state.plot, ascending: false }] };
  const largest = { page: 1, count: state.chart === "bar" ? MAX_BARS : MAX_LINES };
  const totals: Query = { ...main, pagination: { page: 1, count: 1 }, totals: true };
  const queries: FirstBatch["queries"] = {
    table: { ...main, totals: true, pagination },
    chart: state.split ? { ...top, dimensions: [state.split], pagination: largest } : byDay(state, top),
  };
  if (compared) {
    if (!state.split) queries.chartBefore = { ...byDay(state, top), date_range: compared.before };
    if (compared.leavesOutDays) queries.totalsNow = { ...totals, date_range: compared.now };
    queries.totalsBefore = { ...totals, date_range: compared.before };
  }
  return { queries, compared };
}

const byDay = (state: ReportState, query: Query): Query => ({
  ...query,
  dimensions: ["date"],
  metrics: [state.plot],
  order_by: [{ column: "date", ascending: true }],
  pagination: { page: 1, count: 100 },
});

/** Has no query if nothing depends on the first answers. */
export function secondBatch(
  state: ReportState,
  days: Days,
  { compared }: FirstBatch,
  table: ReportResult | null,
  top: ReportResult | null,
): Batch<(typeof SECOND_PARTS)[number]> {
  const main = mainQuery(state, days);
  const batch: ReturnType<typeof secondBatch> = {};
  if (state.split && top && top.rows.length > 0) {
    const split = state.split;
    const filters = [...state.filters.filter((filter) => filter.dimension !== split)];
    filters.push({ dimension: split, values: top.rows.map((row) => cellValueOf(split, row)) });
    const query: Query = { ...byDay(state, main), filters, pagination: { page: 1, count: MAX_DAYS * MAX_LINES } };
    if (state.chart === "line") batch.lines = { ...query, dimensions: ["date", split] };
    else if (compared) {
      const bars: Query = { ...query, dimensions: [split], order_by: [{ column: state.plot, ascending: false }] };
      batch.barsBefore = { ...bars, date_range: compared.before };
      if (compared.leavesOutDays) batch.barsNow = { ...bars, date_range: compared.now };
    }
  }
  if (compared && table && table.rows.length > 0) {
    const filters = state.dimensions
      .filter((dimension) => dimension !== "date")
      .map((dimension) => ({ dimension, values: [...new Set(table.rows.map((row) => cellValueOf(dimension, row)))] }));
    const others = state.filters.filter((filter) => !state.dimensions.includes(filter.dimension));
    const ofPage: Query = { ...main, filters: [...others, ...filters] };
    const query: Query = { ...(state.byChange ? main : ofPage), pagination: { page: 1, count: MAX_ROWS } };
    const range = state.byChange ? compared.before : datesBefore(state, table, compared);
    batch.rowsBefore = { ...query, date_range: range };
    // If a row also sums up incomplete days, only its complete days are compared.
    if (compared.leavesOutDays && !state.dimensions.includes("date")) {
      batch.rowsNow = { ...query, date_range: compared.now };
    }
  }
  return batch;
}

/** A page by date needs only its own dates of the period before. */
function datesBefore(state: ReportState, table: ReportResult, { before, days }: Comparison) {
  if (!state.dimensions.includes("date")) return before;
  const dates = table.rows.map((row) => row.date!).sort();
  const clamp = (date: string) =>
    date > before.end_date ? before.end_date : date < before.start_date ? before.start_date : date;
  return { start_date: clamp(addDays(dates[0]!, -days)), end_date: clamp(addDays(dates[dates.length - 1]!, -days)) };
}

/** The values that a row and its counterpart in the period before have in common. */
export function rowKey(state: ReportState, row: ReportRow, shift = 0): string {
  return state.dimensions
    .map((dimension) =>
      dimension === "date" && shift && row.date ? addDays(row.date, shift) : cellValueOf(dimension, row),
    )
    .join("\u0000");
}
