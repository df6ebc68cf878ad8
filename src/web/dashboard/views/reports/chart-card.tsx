// The chart of a report: lines or bars by day, or the largest values of a dimension.

import { useState } from "preact/hooks";
import { InlineSelect } from "../../../shared/components/field";
import { Chart } from "../../components/chart/chart";
import { ChartTable } from "../../components/chart/chart-table";
import { Ranking } from "../../components/chart/ranking";
import { SmallButton } from "../../../shared/components/button";
import { Section } from "../../../shared/components/section";
import { Segments } from "../../../shared/components/segments";
import { PartFailed, Skeleton } from "../../../shared/components/states";
import { chart as chartText, DIMENSION_NAMES, METRIC_NAMES, reports as text } from "../../messages";
import { type Dimension, isRefusal, type Refusal } from "../../types";
import { dayLines, ranked } from "./chart-data";
import { adTagBlocked } from "./columns";
import type { Days } from "./periods";
import { MAX_BARS, MAX_LINES } from "./queries";
import { FILTER_DIMENSIONS, type ReportState } from "./state";
import type { Report } from "./use-report";

interface Props {
  state: ReportState;
  report: Report;
  days: Days;
  onChange: (part: Partial<ReportState>) => void;
}

export function ChartCard(props: Props) {
  const { state, report } = props;
  const [isTable, setTable] = useState(false);
  const title = text.chartTitle(METRIC_NAMES[state.plot], state.split && DIMENSION_NAMES[state.split]);
  const isRanking = state.chart === "bar" && state.split !== null;
  const failed = [report.chart, report.lines].find((part): part is Refusal => part !== null && isRefusal(part));
  return (
    <Section title={title} tools={<Tools {...props} isTable={isTable} setTable={isRanking ? null : setTable} />}>
      {failed ? (
        <PartFailed part={failed} retry={report.reload} />
      ) : (
        <Plot {...props} title={title} isTable={isTable && !isRanking} />
      )}
    </Section>
  );
}

type ToolsProps = Pick<Props, "state" | "onChange"> & { isTable: boolean; setTable: ((on: boolean) => void) | null };

function Tools({ state, onChange, isTable, setTable }: ToolsProps) {
  const noAdTag = adTagBlocked(state.metrics) !== undefined;
  // Changing only the chart does not move the table to another page.
  const change = (part: Partial<ReportState>) => onChange({ page: state.page, ...part });
  return (
    <>
      <InlineSelect
        label={text.chartMetric}
        value={state.plot}
        options={state.metrics}
        nameOf={(metric) => METRIC_NAMES[metric]}
        onChange={(plot) => change({ plot })}
      />
      <InlineSelect<Dimension | "">
        label={text.chartSplit}
        value={state.split ?? ""}
        options={FILTER_DIMENSIONS}
        nameOf={(dimension) => DIMENSION_NAMES[dimension]}
        any={text.noSplit}
        isDisabled={(dimension) => dimension === "ad_tag" && noAdTag}
        onChange={(split) => change({ split: split || null })}
      />
      <Segments
        name={text.chartKind}
        options={[
          { value: "line", label: text.line },
          { value: "bar", label: text.bar },
        ]}
        value={state.chart}
        onChange={(chart) => change({ chart })}
      />
      {setTable && (
        <SmallButton onClick={() => setTable(!isTable)}>{isTable ? chartText.asChart : chartText.asTable}</SmallButton>
      )}
    </>
  );
}

function Plot({ state, report, days, title, isTable }: Props & { title: string; isTable: boolean }) {
  const top = report.chart && !isRefusal(report.chart) ? report.chart : null;
  if (!top) return <Skeleton class="chart-skeleton" />;
  if (state.chart === "bar" && state.split) {
    return (
      <>
        <Ranking
          name={title}
          dimension={DIMENSION_NAMES[state.split]}
          metric={METRIC_NAMES[state.plot]}
          rows={ranked(state, report, top)}
          hasBefore={report.first.compared !== null}
        />
        {top.total_count > MAX_BARS && <p class="note card-foot">{text.topOnly(MAX_BARS)}</p>}
      </>
    );
  }
  const data = dayLines(state, report, days, title);
  if (!data) return <Skeleton class="chart-skeleton" />;
  return (
    <>
      {isTable ? <ChartTable data={data} /> : <Chart data={data} kind={state.chart} />}
      {state.split && top.total_count > MAX_LINES && <p class="note card-foot">{text.topOnly(MAX_LINES)}</p>}
    </>
  );
}
