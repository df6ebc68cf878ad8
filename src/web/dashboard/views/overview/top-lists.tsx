// The apps and countries with the most revenue, asked for after the key numbers are there.

import { api } from "../../api";
import { useCached } from "../../../shared/cache";
import { Ranking, type Ranked } from "../../components/chart/ranking";
import { Section } from "../../../shared/components/section";
import { Failed, PartFailed, Skeleton } from "../../../shared/components/states";
import { addDays, money } from "../../../shared/format";
import { labelOf, rememberNames } from "../../labels";
import { DIMENSION_NAMES, METRIC_NAMES, overview as text } from "../../messages";
import { REPORTS_PATH } from "../../router";
import { type Dimension, isRefusal, type Overview, type Query, type ReportResult, type Refusal } from "../../types";

const SHOWN = 5;
const LISTS: { dimension: Dimension; title: string }[] = [
  { dimension: "app", title: text.topApps },
  { dimension: "country", title: text.topCountries },
];

export function TopLists({ overview }: { overview: Overview | undefined }) {
  const lastDay = overview?.last_day;
  const { data, error, reload } = useCached(lastDay ? `top ${lastDay}` : null, async () => {
    const batch = await api.reports(LISTS.map(({ dimension }) => query(dimension, lastDay!)));
    rememberNames(batch);
    return batch;
  });
  return (
    <div class="columns">
      {LISTS.map(({ dimension, title }, index) => (
        <Section
          key={dimension}
          title={title}
          tools={
            <a href={`${REPORTS_PATH}?by=${dimension}&sort=-revenue`} aria-label={`${text.openReport}: ${title}`}>
              {text.openReport}
            </a>
          }
        >
          {data ? (
            <List dimension={dimension} title={title} result={data.results[index]!} />
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

const query = (dimension: Dimension, lastDay: string): Query => ({
  date_range: { start_date: addDays(lastDay, -29), end_date: lastDay },
  dimensions: [dimension],
  metrics: ["revenue"],
  order_by: [{ column: "revenue", ascending: false }],
  pagination: { page: 1, count: SHOWN },
});

function List({ dimension, title, result }: { dimension: Dimension; title: string; result: ReportResult | Refusal }) {
  if (isRefusal(result)) return <PartFailed part={result} />;
  if (result.rows.length === 0) return <p class="note">{text.emptyTitle}</p>;
  const rows = result.rows.map((row): Ranked => {
    const id = (dimension === "app" ? row.app_id : row.country) ?? "";
    const revenue = row.revenue ?? 0;
    return { id, label: labelOf(dimension, id), value: revenue, valueText: money(revenue) };
  });
  return (
    <Ranking
      name={`${title}, ${text.topNote}`}
      dimension={DIMENSION_NAMES[dimension]}
      metric={METRIC_NAMES.revenue}
      rows={rows}
    />
  );
}
