// The apps and countries with the most revenue, requested after the key numbers have loaded.

import { reports } from "../../api";
import { useCached } from "../../../shared/cache";
import { Ranking, type Ranked } from "../../components/chart/ranking";
import { Section } from "../../../shared/components/section";
import { Failed, PartFailed, Skeleton } from "../../../shared/components/states";
import { dateRangeText, money } from "../../../shared/format";
import { queryText } from "../../../shared/query-text";
import { labelOf } from "../../labels";
import { DIMENSION_NAMES, METRIC_NAMES, overview as text } from "../../messages";
import { REPORTS_PATH } from "../../router";
import { type DateRange, type Dimension, isRefusal, type Query, type Refusal, type ReportResult } from "../../types";
import type { Preset } from "../reports/periods";
import { rangeText } from "../reports/state";
import { DEFAULT_PERIOD } from "./figures";

const SHOWN = 5;
const LISTS: { dimension: Dimension; title: string }[] = [
  { dimension: "app", title: text.topApps },
  { dimension: "country", title: text.topCountries },
];

interface Props {
  period: Preset | DateRange;
  /** Undefined until the key numbers have loaded. */
  range: DateRange | undefined;
}

export function TopLists({ period, range }: Props) {
  const key = range ? `top ${range.start_date} ${range.end_date}` : null;
  const { data, error, reload } = useCached(key, () => reports(LISTS.map(({ dimension }) => query(dimension, range!))));
  return (
    <div class="columns">
      {LISTS.map(({ dimension, title }, index) => (
        <Section
          key={dimension}
          title={title}
          tools={
            <a
              href={reportPath(period, { by: dimension, sort: "-revenue", compare: "1" })}
              aria-label={`${text.openReport}: ${title}`}
            >
              {text.openReport}
            </a>
          }
        >
          {data ? (
            <List dimension={dimension} title={title} result={data.results[index]!} period={period} range={range!} />
          ) : error ? (
            <Failed error={error} retry={reload} compact />
          ) : (
            <Skeleton class="list-skeleton" lines={SHOWN} />
          )}
        </Section>
      ))}
    </div>
  );
}

/** The report of a period: by a dimension, or the days of one of its values. */
const reportPath = (period: Preset | DateRange, choices: Record<string, string>) =>
  REPORTS_PATH + queryText({ ...choices, range: period === DEFAULT_PERIOD ? "" : rangeText(period) });

const query = (dimension: Dimension, range: DateRange): Query => ({
  date_range: range,
  dimensions: [dimension],
  metrics: ["revenue"],
  order_by: [{ column: "revenue", ascending: false }],
  pagination: { page: 1, count: SHOWN },
});

interface ListProps {
  dimension: Dimension;
  title: string;
  result: ReportResult | Refusal;
  period: Preset | DateRange;
  range: DateRange;
}

function List({ dimension, title, result, period, range }: ListProps) {
  if (isRefusal(result)) return <PartFailed part={result} />;
  if (result.rows.length === 0) return <p class="note">{text.emptyTitle}</p>;
  const rows = result.rows.map((row): Ranked => {
    const id = (dimension === "app" ? row.app_id : row.country) ?? "";
    const revenue = row.revenue ?? 0;
    const label = <a href={reportPath(period, { [dimension]: id })}>{labelOf(dimension, id)}</a>;
    return { id, label, value: revenue, valueText: money(revenue) };
  });
  return (
    <Ranking
      name={`${title}, ${text.topNote(dateRangeText(range.start_date, range.end_date))}`}
      dimension={DIMENSION_NAMES[dimension]}
      metric={METRIC_NAMES.revenue}
      rows={rows}
    />
  );
}
