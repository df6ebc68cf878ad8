// The last 30 complete days and today, above the same weekdays 5 weeks before.

import { useState } from "preact/hooks";
import { Chart } from "../../components/chart/chart";
import { ChartTable } from "../../components/chart/chart-table";
import type { ChartData } from "../../components/chart/types";
import { SmallButton } from "../../../shared/components/button";
import { Section } from "../../../shared/components/section";
import { Segments } from "../../../shared/components/segments";
import { PartFailed, Skeleton } from "../../../shared/components/states";
import { addDays, count, datesIn, money } from "../../../shared/format";
import { METRIC_UNITS } from "../../report-facts";
import { daysBack } from "../reports/periods";
import { chart as chartText, METRIC_NAMES, overview as text } from "../../messages";
import { isRefusal, type Metric, type Overview, type ReportRow } from "../../types";

const DAYS = 30;

// A day's eCPM would mix in the offerwall, so it is no choice here.
const METRICS: Metric[] = ["revenue", "clicks", "impressions"];

export function DaysChart({ overview, retry }: { overview: Overview | undefined; retry: () => void }) {
  const [metric, setMetric] = useState<Metric>("revenue");
  const [isTable, setTable] = useState(false);
  const days = overview?.reports.days;
  const rows = days && !isRefusal(days) ? days.rows : [];
  const metrics = METRICS.filter((one) => one !== "impressions" || !days || rows.some((row) => row.impressions));
  const shown = metrics.includes(metric) ? metric : "revenue";
  return (
    <Section
      title={text.chartTitle(METRIC_NAMES[shown])}
      beside={<Today overview={overview} />}
      tools={
        <>
          <Segments
            name={text.metric}
            options={metrics.map((one) => ({ value: one, label: METRIC_NAMES[one] }))}
            value={shown}
            onChange={setMetric}
          />
          {rows.length > 0 && (
            <SmallButton onClick={() => setTable(!isTable)}>
              {isTable ? chartText.asChart : chartText.asTable}
            </SmallButton>
          )}
        </>
      }
    >
      {!days ? (
        <Skeleton class="chart-skeleton" />
      ) : isRefusal(days) ? (
        <PartFailed part={days} retry={retry} />
      ) : isTable ? (
        <ChartTable data={chartData(shown, rows, overview!)} />
      ) : (
        <Chart data={chartData(shown, rows, overview!)} kind="line" />
      )}
    </Section>
  );
}

function Today({ overview }: { overview: Overview | undefined }) {
  const today = overview?.reports.today;
  if (!overview || !today || isRefusal(today)) return null;
  // Data that end before today say nothing about it.
  if (!reachesToday(overview)) return null;
  const { revenue = 0, clicks = 0 } = today.totals;
  return (
    <p class="note">
      {text.today}: <b>{money(revenue)}</b>, <b>{count(clicks)}</b> {METRIC_NAMES.clicks.toLowerCase()}
    </p>
  );
}

const reachesToday = ({ today, last_day }: Overview) => addDays(last_day, 1) === today;

function chartData(metric: Metric, rows: ReportRow[], overview: Overview): ChartData {
  const { today, last_day } = overview;
  const values = new Map(rows.map((row) => [row.date, row[metric] ?? 0]));
  // Days without data would look like days without revenue, so the chart ends before them.
  const hasToday = reachesToday(overview);
  const dates = datesIn(addDays(last_day, 1 - DAYS), hasToday ? today : last_day);
  const before = dates.map((date) => addDays(date, -daysBack(DAYS)));
  // The period before has no day that stands for today.
  const beforeValues = before.map((date, index) => (index < DAYS ? (values.get(date) ?? 0) : null));
  const series = [{ id: "now", label: text.thisPeriod, values: dates.map((date) => values.get(date) ?? 0) }];
  const hasBefore = beforeValues.some((value) => value);
  return {
    title: text.chartTitle(METRIC_NAMES[metric]),
    dates,
    series: hasBefore
      ? [...series, { id: "before", label: text.fiveWeeksBefore, values: beforeValues, dates: before, isBefore: true }]
      : series,
    unit: METRIC_UNITS[metric],
    today: hasToday ? DAYS : null,
  };
}
