// Turns the answers of a report into the data that the charts draw.

import type { ChartData, Series } from "../../components/chart/types";
import type { Ranked } from "../../components/chart/ranking";
import { addDays, change, datesIn } from "../../../shared/format";
import { metricValue } from "../../metrics";
import { METRIC_UNITS } from "../../report-facts";
import { labelOf, cellValueOf } from "../../labels";
import { reports as text } from "../../messages";
import { isRefusal, type Metric, type ReportResult, type ReportRow } from "../../types";
import type { Days } from "./periods";
import { type ReportState, resolveRange } from "./state";
import type { Part, Report } from "./use-report";

const rowsOf = (part: Part): ReportRow[] | null => (part && !isRefusal(part) ? part.rows : null);

/** A day without a row is 0 if the day's data are complete, and unknown otherwise. */
function byDate(rows: ReportRow[], metric: Metric, dates: string[], last: string): (number | null)[] {
  const values = new Map(rows.map((row) => [row.date, row[metric] ?? 0]));
  return dates.map((date) => values.get(date) ?? (date > last ? null : 0));
}

/** Lines or bars by day; null while their answer loads. */
export function dayLines(state: ReportState, report: Report, days: Days, title: string): ChartData | null {
  const { today } = days;
  const range = resolveRange(state.range, days);
  const end = range.end_date > today ? today : range.end_date;
  const dates = datesIn(range.start_date, end);
  const series: Series[] = [];
  if (state.split) {
    const split = state.split;
    const top = rowsOf(report.chart) ?? [];
    const rows = rowsOf(report.lines);
    if (!rows && top.length > 0) return null;
    for (const value of top.map((row) => cellValueOf(split, row))) {
      const own = (rows ?? []).filter((row) => cellValueOf(split, row) === value);
      series.push({ id: value, label: labelOf(split, value), values: byDate(own, state.plot, dates, days.last) });
    }
  } else {
    series.push({
      id: "now",
      label: text.total,
      values: byDate(rowsOf(report.chart) ?? [], state.plot, dates, days.last),
    });
    const { compared } = report.first;
    const before = rowsOf(report.chartBefore);
    if (compared && before) {
      const datesBefore = dates.map((date) => addDays(date, -compared.days));
      const values = byDate(before, state.plot, datesBefore, days.last);
      series.push({
        id: "before",
        label: text.before,
        // Incomplete days are not compared, so they have no value in the period before.
        values: values.map((value, index) => (dates[index]! > compared.now.end_date ? null : value)),
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
    new Map((rows ?? []).map((row) => [cellValueOf(split, row), row[state.plot] ?? 0]));
  const old = byValue(before);
  // If a range ends with incomplete days, only its complete days are compared.
  const complete = report.first.compared?.leavesOutDays ? byValue(rowsOf(report.barsNow)) : byValue(top.rows);
  return top.rows.map((row) => {
    const id = cellValueOf(split, row);
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
