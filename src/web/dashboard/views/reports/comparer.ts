// Compares the rows of a report with the rows of the days before.

import { addDays } from "../../../shared/format";
import { isRefusal, type Metric, type ReportResult, type ReportRow, type Totals } from "../../types";
import { isMetric } from "./columns";
import { rowKey } from "./queries";
import type { ReportState } from "./state";
import type { Part, Report } from "./use-report";

/** A value in both periods. */
interface Pair {
  now: number;
  was: number;
}

export interface Compare {
  /** True if the answers contain every row that could be compared. */
  hasAllRows: boolean;
  /** Null for a day that has no counterpart. */
  row: (row: ReportRow, metric: Metric) => Pair | null | "waiting" | "unknown";
  total: (metric: Metric) => Pair | null;
  /** Rows of the period before, moved to the dates of this period; null while they load. */
  before: ReportRow[] | null;
}

interface Index {
  rows: Map<string, ReportRow>;
  /** True if a missing row means 0. An answer with many rows does not contain all of them. */
  isWhole: boolean;
}

function index(state: ReportState, part: Part, shift = 0): Index | null {
  if (!part || isRefusal(part)) return null;
  return {
    rows: new Map(part.rows.map((row) => [rowKey(state, row, shift), row])),
    isWhole: part.rows.length === part.total_count,
  };
}

const totalsOf = (part: Part): Totals | null => (part && !isRefusal(part) ? (part.totals ?? {}) : null);

/** Null if nothing is compared. */
export function comparer(state: ReportState, report: Report): Compare | null {
  const { compared } = report.first;
  if (!compared) return null;
  const isByDate = state.dimensions.includes("date");
  const before = index(state, report.rowsBefore, compared.days);
  const needsNow = compared.leavesOutDays && !isByDate;
  const now = needsNow ? index(state, report.rowsNow) : null;
  const totalBefore = totalsOf(report.totalsBefore);
  const totalNow = totalsOf(compared.leavesOutDays ? report.totalsNow : report.table);
  const failed = [report.rowsBefore, report.rowsNow].some((part) => part !== null && isRefusal(part));
  const isCompared = ({ date }: ReportRow) => !isByDate || date! <= compared.now.end_date;
  const onDatesOfNow = (row: ReportRow) => (row.date ? { ...row, date: addDays(row.date, compared.days) } : row);
  return {
    hasAllRows: before?.isWhole !== false && now?.isWhole !== false,
    row: (row, metric) => {
      if (failed || !isCompared(row)) return null;
      if (!before || (needsNow && !now)) return "waiting";
      const key = rowKey(state, row);
      const was = before.rows.get(key);
      const counted = now ? now.rows.get(key) : row;
      if ((!was && !before.isWhole) || (!counted && now?.isWhole === false)) return "unknown";
      return { now: counted?.[metric] ?? 0, was: was?.[metric] ?? 0 };
    },
    total: (metric) => totalBefore && totalNow && { now: totalNow[metric] ?? 0, was: totalBefore[metric] ?? 0 },
    before: before && [...before.rows.values()].map(onDatesOfNow).filter(isCompared),
  };
}

/** The metric whose change sorts the rows. */
export const changedMetric = ({ order, metrics }: ReportState): Metric =>
  isMetric(order.column) ? order.column : metrics[0]!;

/**
 * The rows of both periods, sorted by the change of a metric; rows that cannot be compared come last. Rows of only the
 * period before are 0 now. Null while rows are loading, or if there are more of them than an answer contains.
 */
export function byChange(state: ReportState, table: ReportResult, compare: Compare): ReportRow[] | null {
  const { rows, total_count: total } = table;
  if (!compare.before || !compare.hasAllRows || rows.length < total) return null;
  const metric = changedMetric(state);
  const known = new Set(rows.map((row) => rowKey(state, row)));
  const nothing = Object.fromEntries(state.metrics.map((one) => [one, 0]));
  const gone = compare.before.filter((row) => !known.has(rowKey(state, row))).map((row) => ({ ...row, ...nothing }));
  const all: { row: ReportRow; change: number | null }[] = [];
  for (const row of [...rows, ...gone]) {
    const pair = compare.row(row, metric);
    if (pair === "waiting" || pair === "unknown") return null;
    all.push({ row, change: pair && pair.now - pair.was });
  }
  const sign = state.order.ascending ? 1 : -1;
  all.sort((one, other) =>
    one.change === null || other.change === null
      ? Number(one.change === null) - Number(other.change === null)
      : sign * (one.change - other.change),
  );
  return all.map(({ row }) => row);
}
