// Charts the days of the period, with today after them, and the same weekdays whole weeks before.

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
import { chart as chartText, METRIC_NAMES, overview as text } from "../../messages";
import { isRefusal, type Metric, type Overview, type ReportRow } from "../../types";
import type { Figures } from "./figures";

// A day's eCPM would mix in the offerwall, so it is not a choice here.
const METRICS: Metric[] = ["revenue", "clicks", "impressions"];

interface Props {
  overview: Overview | undefined;
  figures: Figures | null;
  retry: () => void;
}

export function DaysChart({ overview, figures, retry }: Props) {
  const [metric, setMetric] = useState<Metric>("revenue");
  const [isTable, setTable] = useState(false);
  const days = figures?.reports.days;
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
        <ChartTable data={chartData(shown, rows, figures!, overview!)} />
      ) : (
        <Chart data={chartData(shown, rows, figures!, overview!)} kind="line" />
      )}
    </Section>
  );
}

function Today({ overview }: { overview: Overview | undefined }) {
  const today = overview?.reports.today;
  if (!overview || !today || isRefusal(today)) return null;
  // Data that ends before today says nothing about today.
  if (!reachesToday(overview)) return null;
  const { revenue = 0, clicks = 0 } = today.totals;
  return (
    <p class="note">
      {text.today}: <b>{money(revenue)}</b>, <b>{count(clicks)}</b> {METRIC_NAMES.clicks.toLowerCase()}
    </p>
  );
}

const reachesToday = ({ today, last_day }: Overview) => addDays(last_day, 1) === today;

function chartData(metric: Metric, rows: ReportRow[], figures: Figures, overview: Overview): ChartData {
  const { today, last_day } = overview;
  const { range, compared } = figures;
  const newest = isRefusal(overview.reports.days) ? [] : overview.reports.days.rows.filter((row) => row.date === today);
  const values = new Map([...rows, ...newest].map((row) => [row.date, row[metric] ?? 0]));
  // Days without data would look like days without revenue, so the chart ends before them.
  const hasToday = reachesToday(overview) && range.end_date === last_day;
  const dates = datesIn(range.start_date, hasToday ? today : range.end_date);
  const days = compared?.days ?? 0;
  const before = dates.map((date) => addDays(date, -days));
  // The period before has no day that stands for today.
  const beforeValues = dates.map((date, index) =>
    compared && date <= range.end_date ? (values.get(before[index]!) ?? 0) : null,
  );
  const series = [{ id: "now", label: text.thisPeriod, values: dates.map((date) => values.get(date) ?? 0) }];
  const hasBefore = beforeValues.some((value) => value);
  return {
    title: text.chartTitle(METRIC_NAMES[metric]),
    dates,
    series: hasBefore
      ? [
          ...series,
          { id: "before", label: text.weeksBefore(days / 7), values: beforeValues, dates: before, isBefore: true },
        ]
      : series,
    unit: METRIC_UNITS[metric],
    today: hasToday ? dates.length - 1 : null,
  };
}
