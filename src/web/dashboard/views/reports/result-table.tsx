// The rows of a report, sorted and paged by the server, with the totals of the whole result.

import { Change } from "../../components/change";
import { Segments } from "../../../shared/components/segments";
import { Pager } from "../../../shared/components/pager";
import { type Column, column, numberColumn, Table } from "../../../shared/components/table";
import { change, dateRangeText, dateWithWeekday, signed } from "../../../shared/format";
import { metricValue } from "../../metrics";
import { DIVISORS } from "../../report-facts";
import { labelOf, cellValueOf } from "../../labels";
import {
  chart as chartText,
  common,
  DIMENSION_NAMES,
  METRIC_NAMES,
  reports as text,
  table as tableText,
} from "../../messages";
import type { Dimension, Metric, ReportResult, ReportRow, Totals } from "../../types";
import { isMetric } from "./columns";
import { byChange, changedMetric, type Compare, comparer } from "./comparer";
import { dayPath } from "../../router";
import type { Days } from "./periods";
import { rowKey } from "./queries";
import { PAGE_SIZES, type ReportState } from "./state";
import type { Report } from "./use-report";

interface Props {
  state: ReportState;
  report: Report;
  table: ReportResult;
  days: Days;
  onChange: (part: Partial<ReportState>) => void;
}

export function ResultTable({ state, report, table, days, onChange }: Props) {
  const compare = comparer(state, report);
  const changed = compare && state.byChange ? byChange(state, table, compare) : null;
  const first = (state.page - 1) * state.size;
  const rows = state.byChange ? (changed ?? table.rows).slice(first, first + state.size) : table.rows;
  const total = changed?.length ?? table.total_count;
  // Rows that are sorted here are all in one answer, which has a limit.
  const reachable = state.byChange ? (changed ?? table.rows).length : total;
  const cannotSort = state.byChange && compare?.before && !changed;
  const note = cannotSort ? text.tooManyToSort : compare && !compare.hasAllRows && text.compareSomeRows;
  const columns = [
    ...state.dimensions.map((dimension, index) => dimensionColumn(dimension, index === 0, days)),
    ...state.metrics.map((metric) => metricColumn(metric, state.metrics, table.totals ?? {}, compare)),
  ];
  const sorted = state.byChange ? { ...state.order, column: changedMetric(state) } : state.order;
  const sort = (column: string) => {
    const isSame = column === sorted.column;
    // Numbers and dates start with the largest, and names start with the first in the alphabet.
    const ascending = isSame ? !sorted.ascending : !(isMetric(column) || column === "date");
    const order = { column: column as Dimension | Metric, ascending };
    // Only a metric's change sorts rows.
    onChange(isMetric(column) ? { order } : { order, byChange: false });
  };
  return (
    <section class="card table-card" aria-labelledby="table-title">
      <div class="card-head">
        <h2 id="table-title">{text.rows(total)}</h2>
        <p class="note">
          {comparisonNote(state, report)} {note}
        </p>
        {compare && (
          <Segments
            name={text.sortBy}
            options={[
              { value: "value", label: text.byValue },
              { value: "change", label: text.byChange },
            ]}
            value={state.byChange ? "change" : "value"}
            onChange={(by) => onChange({ byChange: by === "change" })}
          />
        )}
        <p class="visually-hidden" role="status">
          {text.sortedBy(columnName(sorted.column), sorted.ascending)}
        </p>
      </div>
      <Table
        name={text.tableName}
        columns={columns}
        rows={rows}
        rowKey={(row) => rowKey(state, row)}
        sorting={{ ...sorted, onSort: sort }}
        hasTotals={table.totals !== undefined}
        isBusy={report.isWaiting}
      />
      {mixesOfferwall(state) && <p class="note table-note">{text.ecpmMixed}</p>}
      <Pager
        page={state.page}
        size={state.size}
        total={reachable}
        sizes={PAGE_SIZES}
        onPage={(page) => onChange({ page })}
        onSize={(size) => onChange({ size })}
      />
    </section>
  );
}

function comparisonNote(state: ReportState, { first: { compared } }: Report): string | null {
  if (!state.compare) return null;
  if (!compared) return text.compareNone;
  const before = dateRangeText(compared.before.start_date, compared.before.end_date);
  if (!compared.leavesOutDays) return text.comparedWith(before);
  return text.comparedPartly(dateRangeText(compared.now.start_date, compared.now.end_date), before);
}

/** True if eCPM may include revenue that has no impressions. */
const mixesOfferwall = ({ metrics, dimensions, filters }: ReportState) =>
  metrics.includes("ecpm") &&
  !dimensions.includes("demand_source") &&
  !filters.some((filter) => filter.dimension === "demand_source");

function cellText(metric: Metric, row: Totals, metrics: Metric[]): string {
  const divisor = DIVISORS[metric];
  if (divisor && metrics.includes(divisor) && !row[divisor]) return common.none;
  return metricValue(metric, row[metric] ?? 0);
}

const columnName = (column: Dimension | Metric) => (isMetric(column) ? METRIC_NAMES[column] : DIMENSION_NAMES[column]);

/** Marks a day that lacks data, or that can still change. */
function DayState({ date, days: { last, finalThrough } }: { date: string; days: Days }) {
  const state = date > last ? chartText.incomplete : finalThrough && date > finalThrough && text.notFinal;
  return state && <span class="cell-note">{state}</span>;
}

function dimensionColumn(dimension: Dimension, isFirst: boolean, days: Days): Column<ReportRow> {
  const cell = (row: ReportRow) => {
    if (dimension === "date") {
      return (
        <span class="no-wrap">
          <a href={dayPath(row.date!)}>{dateWithWeekday(row.date!)}</a>
          <DayState date={row.date!} days={days} />
        </span>
      );
    }
    const value = cellValueOf(dimension, row);
    if (dimension !== "app" && dimension !== "country") return value;
    return (
      <>
        {labelOf(dimension, value)} <span class="cell-id">{value}</span>
      </>
    );
  };
  const total = isFirst ? tableText.total : null;
  return column(dimension, DIMENSION_NAMES[dimension], cell, { sortable: true, total });
}

function metricColumn(metric: Metric, metrics: Metric[], totals: Totals, compare: Compare | null): Column<ReportRow> {
  const cell = (row: Totals, pair: ReturnType<Compare["row"]> | undefined) => (
    <>
      {cellText(metric, row, metrics)}
      {pair !== undefined && <Moved metric={metric} pair={pair} />}
    </>
  );
  return numberColumn(metric, METRIC_NAMES[metric], (row) => cell(row, compare?.row(row, metric)), {
    sortable: true,
    total: cell(totals, compare?.total(metric)),
  });
}

/** The change in percent and in the metric's unit, and the value of the days before. */
function Moved({ metric, pair }: { metric: Metric; pair: ReturnType<Compare["row"]> }) {
  if (pair === "waiting") return <span class="cell-change">&nbsp;</span>;
  const isKnown = pair !== null && pair !== "unknown";
  return (
    <>
      <span class="cell-change">
        <Change ratio={isKnown ? change(pair.now, pair.was) : pair} />
      </span>
      {isKnown && (
        <span class="cell-before">
          {text.moved(
            signed(pair.now - pair.was, (value) => metricValue(metric, value)),
            metricValue(metric, pair.was),
          )}
        </span>
      )}
    </>
  );
}
