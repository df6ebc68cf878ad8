// Answers of a report as what the charts draw.

import type { ChartData, Series } from "../../components/chart/types";
import type { Ranked } from "../../components/chart/ranking";
import { addDays, change, datesIn, METRIC_UNITS, metricValue } from "../../format";
import { labelOf, valueOf } from "../../labels";
import { reports as text } from "../../messages";
import { isRefusal, type Metric, type ReportResult, type ReportRow } from "../../types";
import type { ReportState } from "./state";
import { resolveRange } from "./state";
import type { Part, Report } from "./use-report";

const rowsOf = (part: Part): ReportRow[] | null => (part && !isRefusal(part) ? part.rows : null);

/** Values by day. A day that the data do not reach has none: a zero would look like a day without revenue. */
function byDate(rows: ReportRow[], metric: Metric, dates: string[], through: string | null): (number | null)[] {
  const values = new Map(rows.map((row) => [row.date, row[metric] ?? 0]));
  const end = Date.parse(through ?? "");
  return dates.map((date) => (Date.parse(date) < end ? (values.get(date) ?? 0) : null));
}

/** Lines or bars by day; null while their answer is on its way. */
export function dayLines(state: ReportState, report: Report, today: string, title: string): ChartData | null {
  const range = resolveRange(state.range, today);
  const end = range.end_date > today ? today : range.end_date;
  const dates = datesIn(range.start_date, end);
  const through = report.cached.data?.data_through ?? null;
  const series: Series[] = [];
  if (state.split) {
    const split = state.split;
    const top = rowsOf(report.chart) ?? [];
    const rows = rowsOf(report.lines);
    if (!rows && top.length > 0) return null;
    for (const value of top.map((row) => valueOf(split, row))) {
      const own = (rows ?? []).filter((row) => valueOf(split, row) === value);
      series.push({ id: value, label: labelOf(split, value), values: byDate(own, state.plot, dates, through) });
    }
  } else {
    const values = byDate(rowsOf(report.chart) ?? [], state.plot, dates, through);
    series.push({ id: "now", label: text.total, values });
    const { compared } = report.first;
    const before = rowsOf(report.chartBefore);
    if (compared && before) {
      const datesBefore = dates.map((date) => addDays(date, -compared.days));
      const valuesBefore = byDate(before, state.plot, datesBefore, through);
      series.push({
        id: "before",
        label: text.before,
        // Today is not compared, so nothing stands for it.
        values: valuesBefore.map((value, index) => (dates[index]! > compared.now.end_date ? null : value)),
        dates: datesBefore,
        isBefore: true,
      });
    }
  }
  const last = dates.length - 1;
  return { title, dates, series, unit: METRIC_UNITS[state.plot], today: dates[last] === today ? last : null };
}

export function ranked(state: ReportState, report: Report, top: ReportResult): Ranked[] {
  const split = state.split!;
  const before = rowsOf(report.barsBefore);
  const byValue = (rows: ReportRow[] | null) =>
    new Map((rows ?? []).map((row) => [valueOf(split, row), row[state.plot] ?? 0]));
  const old = byValue(before);
  // With today in the range, only its complete days are compared.
  const complete = report.first.compared?.leavesOutToday ? byValue(rowsOf(report.barsNow)) : byValue(top.rows);
  return top.rows.map((row) => {
    const id = valueOf(split, row);
    const value = row[state.plot] ?? 0;
    const was = before ? (old.get(id) ?? 0) : undefined;
    return {
      id,
      label: labelOf(split, id),
      value,
      valueText: metricValue(state.plot, value),
      before: was,
      beforeText: was === undefined ? undefined : metricValue(state.plot, was),
      ratio: was === undefined ? null : change(complete.get(id), was),
    };
  });
}
