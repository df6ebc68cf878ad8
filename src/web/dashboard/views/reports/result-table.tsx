// The rows of a report, sorted and paged by the server, with the totals of the whole result.

import { Change } from "../../components/change";
import { Pager } from "../../../shared/components/pager";
import { type Column, Table } from "../../../shared/components/table";
import { addDays, change, dateRangeText, dateWithWeekday } from "../../../shared/format";
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
import { type Dimension, isRefusal, type Metric, type ReportResult, type ReportRow, type Totals } from "../../types";
import { isMetric } from "./columns";
import { dayPath } from "../../router";
import type { Days } from "./periods";
import { rowKey } from "./queries";
import { PAGE_SIZES, type ReportState } from "./state";
import type { Part, Report } from "./use-report";

interface Props {
  state: ReportState;
  report: Report;
  table: ReportResult;
  days: Days;
  onChange: (part: Partial<ReportState>) => void;
}

export function ResultTable({ state, report, table, days, onChange }: Props) {
  const compare = comparer(state, report);
  const columns = [
    ...state.dimensions.map((dimension, index) => dimensionColumn(dimension, index === 0, days)),
    ...state.metrics.map((metric) => metricColumn(metric, state.metrics, table.totals ?? {}, compare)),
  ];
  const sort = (column: string) => {
    const isSame = column === state.order.column;
    // Numbers and dates start with the largest, names with the first.
    const ascending = isSame ? !state.order.ascending : !(isMetric(column) || column === "date");
    onChange({ order: { column: column as Dimension | Metric, ascending } });
  };
  return (
    <section class="card table-card" aria-labelledby="table-title">
      <div class="card-head">
        <h2 id="table-title">{text.rows(table.total_count)}</h2>
        <p class="note">
          {comparisonNote(state, report)} {compare && !compare.hasAllRows && text.compareSomeRows}
        </p>
        <p class="visually-hidden" role="status">
          {text.sortedBy(columnName(state.order.column), state.order.ascending)}
        </p>
      </div>
      <Table
        name={text.tableName}
        columns={columns}
        rows={table.rows}
        rowKey={(row) => rowKey(state, row)}
        sorting={{ ...state.order, onSort: sort }}
        hasTotals={table.totals !== undefined}
        isBusy={report.isWaiting}
      />
      {mixesOfferwall(state) && <p class="note table-note">{text.ecpmMixed}</p>}
      <Pager
        page={state.page}
        size={state.size}
        total={table.total_count}
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

/** Whether eCPM may count revenue that has no impressions. */
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
  return {
    key: dimension,
    header: DIMENSION_NAMES[dimension],
    sortable: true,
    total: isFirst ? tableText.total : null,
    cell: (row) => {
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
    },
  };
}

interface Compare {
  /** Whether the answers contain every row that could be compared. */
  hasAllRows: boolean;
  row: (row: ReportRow, metric: Metric) => number | null | "waiting" | "unknown";
  total: (metric: Metric) => { was: number; ratio: number | null } | null;
}

function metricColumn(metric: Metric, metrics: Metric[], totals: Totals, compare: Compare | null): Column<ReportRow> {
  const total = compare?.total(metric);
  return {
    key: metric,
    header: METRIC_NAMES[metric],
    isNumber: true,
    sortable: true,
    total: (
      <>
        {cellText(metric, totals, metrics)}
        {compare && (
          <span class="cell-change">
            {total ? (
              <>
                <Change ratio={total.ratio} />
                <span class="visually-hidden">
                  , {tableText.before} {metricValue(metric, total.was)}
                </span>
              </>
            ) : (
              common.none
            )}
          </span>
        )}
      </>
    ),
    cell: (row) => {
      const ratio = compare?.row(row, metric);
      return (
        <>
          {cellText(metric, row, metrics)}
          {ratio !== undefined && (
            <span class="cell-change">{ratio === "waiting" ? "\u00a0" : <Change ratio={ratio} />}</span>
          )}
        </>
      );
    },
  };
}

interface Index {
  rows: Map<string, ReportRow>;
  /** Whether a row that is not there is 0: an answer of many rows does not contain all. */
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

/** Changes against the period before; null where nothing is compared. */
function comparer(state: ReportState, report: Report): Compare | null {
  const { compared } = report.first;
  if (!compared) return null;
  const isByDate = state.dimensions.includes("date");
  const before = index(state, report.rowsBefore, compared.days);
  const needsNow = compared.leavesOutDays && !isByDate;
  const now = needsNow ? index(state, report.rowsNow) : null;
  const totalBefore = totalsOf(report.totalsBefore);
  const totalNow = totalsOf(compared.leavesOutDays ? report.totalsNow : report.table);
  const failed = [report.rowsBefore, report.rowsNow].some((part) => part !== null && isRefusal(part));
  return {
    hasAllRows: before?.isWhole !== false && now?.isWhole !== false,
    row: (row, metric) => {
      if (failed) return null;
      if (!before || (needsNow && !now)) return "waiting";
      if (isByDate && row.date! > addDays(compared.before.end_date, compared.days)) return null;
      const key = rowKey(state, row);
      const was = before.rows.get(key);
      const counted = now ? now.rows.get(key) : row;
      if ((!was && !before.isWhole) || (!counted && !now?.isWhole)) return "unknown";
      return change(counted?.[metric], was?.[metric]);
    },
    total: (metric) => {
      if (!totalBefore || !totalNow) return null;
      const was = totalBefore[metric] ?? 0;
      return { was, ratio: change(totalNow[metric], was) };
    },
  };
}
