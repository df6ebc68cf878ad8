// Reports: a question, its chart and its table. Every choice is in the URL.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useCached } from "../../../shared/cache";
import { Button, LinkButton } from "../../../shared/components/button";
import { Heading } from "../../../shared/components/heading";
import { CardSkeleton } from "../../../shared/components/table";
import { Empty, Failed, PartFailed, Skeleton, Stale } from "../../../shared/components/states";
import { dateRangeText, dateText } from "../../../shared/format";
import { labelOf } from "../../labels";
import { common, dataThrough, DIMENSION_NAMES, reports as text } from "../../messages";
import { search, setSearch } from "../../../shared/navigation";
import { CHANGES_PATH } from "../../router";
import { loadOverview, OVERVIEW_KEY } from "../../session";
import { isRefusal } from "../../types";
import { ChartCard } from "./chart-card";
import { type Days, daysOf } from "./periods";
import { ReportActions } from "./actions";
import { ResultTable } from "./result-table";
import { formatState, parseState, rememberColumns, repair, type ReportState, resolveRange, usualQuery } from "./state";
import { Toolbar } from "./toolbar";
import { type Report, useReport } from "./use-report";

export function Reports() {
  // Write the columns into the URL, so that a link to the page shows others the same columns.
  useLayoutEffect(() => {
    if (!search.peek()) setSearch(usualQuery(), "replace");
  }, []);
  const overview = useCached(OVERVIEW_KEY, loadOverview);
  const days = daysOf(overview.data);
  const state = parseState(search.value || usualQuery());
  const report = useReport(state, days, overview.data !== undefined);
  const error = overview.data ? report.cached.error : overview.error;
  const retry = overview.data ? report.reload : overview.reload;

  // While a new report loads, the former one stays, greyed, so that nothing jumps.
  const last = useRef<{ state: ReportState; report: Report } | null>(null);
  if (report.cached.data) last.current = { state, report };
  const shown = report.cached.data ? { state, report } : error ? null : last.current;

  // Changing anything other than the page number goes back to the first page.
  const change = (part: Partial<ReportState>) => {
    if (part.metrics) rememberColumns(part.metrics);
    setSearch(formatState(repair({ ...state, page: 1, ...part })), "push");
  };

  const table = report.table && !isRefusal(report.table) ? report.table : null;
  const through = report.cached.data?.data_through ?? overview.data?.data_through;
  // The report's answer may be newer than the overview, and more days may have become final in between.
  const finalThrough = report.cached.data?.final_through ?? days.finalThrough;
  return (
    <>
      <Heading
        title={text.title}
        within={overview.data ? [overview.data.publisher.name] : []}
        note={through || overview.data ? dataThrough(through, finalThrough) : !error && common.loading}
      >
        <LinkButton href={CHANGES_PATH}>{text.changes}</LinkButton>
        <ReportActions
          state={state}
          days={days}
          rows={table?.total_count ?? null}
          dataThrough={through ?? null}
          reportingUrl={overview.data?.reporting_url ?? null}
        />
      </Heading>
      <Toolbar state={state} days={days} onChange={change} />
      <Summary state={state} days={days} />
      {error && !report.cached.data ? (
        <Failed error={error} retry={retry} />
      ) : (
        <div class={shown && !report.cached.data ? "results busy" : "results"} aria-busy={report.isWaiting}>
          <Stale of={report.cached} retry={retry} />
          {shown ? <Results {...shown} days={{ ...days, finalThrough }} onChange={change} /> : <ResultsSkeleton />}
        </div>
      )}
    </>
  );
}

interface ResultsProps {
  state: ReportState;
  report: Report;
  days: Days;
  onChange: (part: Partial<ReportState>) => void;
}

function Results({ state, report, days, onChange }: ResultsProps) {
  const { table } = report;
  if (table && isRefusal(table)) {
    return <PartFailed part={table} retry={report.reload} />;
  }
  if (!table || table.total_count === 0) {
    const { start_date: start, end_date: end } = resolveRange(state.range, days);
    if (start > days.last) {
      return (
        <Empty title={text.notArrivedTitle(dateRangeText(start, end))}>{text.notArrived(dateText(days.last))}</Empty>
      );
    }
    return (
      <Empty
        title={text.emptyTitle}
        action={
          state.filters.length > 0 && <Button onClick={() => onChange({ filters: [] })}>{text.resetFilters}</Button>
        }
      >
        {text.empty}
      </Empty>
    );
  }
  return (
    <>
      <ChartCard state={state} report={report} days={days} onChange={onChange} />
      <ResultTable state={state} report={report} table={table} days={days} onChange={onChange} />
    </>
  );
}

function ResultsSkeleton() {
  return (
    <>
      <div class="card">
        <Skeleton class="chart-skeleton with-head" />
      </div>
      <CardSkeleton rows={8} />
    </>
  );
}

/** Printed pages have no controls, so this text names the choices. */
function Summary({ state, days }: { state: ReportState; days: Days }) {
  const range = resolveRange(state.range, days);
  const parts = [
    text.summary(
      dateRangeText(range.start_date, range.end_date),
      state.dimensions.map((dimension) => DIMENSION_NAMES[dimension]),
    ),
    ...state.filters.map(({ dimension, values }) =>
      text.filterChip(
        DIMENSION_NAMES[dimension],
        values.map((value) => labelOf(dimension, value)),
      ),
    ),
  ];
  return <p class="print-only">{parts.join(" · ")}</p>;
}
