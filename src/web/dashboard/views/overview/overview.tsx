// Overview: how the complete days of a period went, against the same weekdays whole weeks before.

import { useEffect, useRef } from "preact/hooks";
import { refresh, useCached } from "../../../shared/cache";
import { DateRangePicker } from "../../../shared/components/date-range";
import { Heading } from "../../../shared/components/heading";
import { Empty, Failed, Stale } from "../../../shared/components/states";
import { dateRangeText } from "../../../shared/format";
import { search, setSearch } from "../../../shared/navigation";
import { common, dataThrough, overview as text } from "../../messages";
import { MAX_DAYS } from "../../report-facts";
import { loadOverview, OVERVIEW_KEY } from "../../session";
import { type DateRange, isRefusal, type Overview as Data } from "../../types";
import { daysOf, PRESETS } from "../reports/periods";
import { parseRange, rangeQuery, resolveRange } from "../reports/state";
import { ACTIVITY_KEY, useActivity } from "../use-activity";
import { Checklist, Health, RewardTiles } from "./activity";
import { DaysChart } from "./days-chart";
import { DEFAULT_PERIOD, type Figures, useFigures } from "./figures";
import { Approval, Notices } from "./notices";
import { Tiles } from "./tiles";
import { TopLists } from "./top-lists";
import { Trouble } from "./trouble";

const ACTIVITY_MILLISECONDS = 10_000;
/** Today has no complete day and has its own line, so it is not a preset here. */
const OWN_PRESETS = PRESETS.filter((preset) => preset !== "today");

export function Overview() {
  const cached = useCached(OVERVIEW_KEY, loadOverview);
  const { data, error, reload } = cached;
  const days = daysOf(data);
  const period = parseRange(new URLSearchParams(search.value).get("range"));
  const { figures, asked } = useFigures(cached, period, days);
  // While the figures of another period load, the former ones stay, greyed, so that nothing jumps.
  const last = useRef<Figures | null>(null);
  if (figures) last.current = figures;
  const hasFailed = asked.error !== undefined && !figures;
  const shown = figures ?? (hasFailed ? null : last.current);
  // Loaded after the key numbers, so that it does not delay them.
  const activity = useActivity(data !== undefined);
  // A publisher that goes live watches the checklist for its next check mark.
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && void refresh(ACTIVITY_KEY), ACTIVITY_MILLISECONDS);
    return () => clearInterval(timer);
  }, []);
  const checklist = data && activity.data && <Checklist first={activity.data.first} />;
  const note = data ? (
    <>
      {shown && text.period(periodText(shown.range), shown.compared && periodText(shown.compared.before))}
      <br />
      {dataThrough(data.data_through, data.final_through)}
    </>
  ) : (
    !error && (
      <>
        {common.loading}
        <br />
        &nbsp;
      </>
    )
  );
  return (
    <>
      <Heading title={text.title} within={data ? [data.publisher.name] : []} note={note}>
        <DateRangePicker
          range={resolveRange(period, days)}
          preset={typeof period === "string" ? period : null}
          presets={OWN_PRESETS}
          days={days}
          mostDays={MAX_DAYS}
          onChange={(range, preset) => setSearch(rangeQuery(preset ?? range), "push")}
        />
      </Heading>
      {error && !data ? (
        <Failed error={error} retry={reload} />
      ) : (
        <>
          <Stale of={cached} retry={reload} />
          {data && <Notices notices={data.notices} contact={data.support_contact} />}
          {data && <Trouble overview={data} data={activity.data} />}
          {data && !data.publisher.approved && <Approval overview={data} />}
          {data && period === DEFAULT_PERIOD && hasNoNumbers(data) ? (
            data.publisher.approved && (
              <>
                <Empty title={text.emptyTitle}>{text.empty}</Empty>
                {checklist}
              </>
            )
          ) : (
            <>
              <div class={figures || !shown ? undefined : "results busy"} aria-busy={!figures}>
                {hasFailed ? <Failed error={asked.error!} retry={asked.reload} /> : <Tiles figures={shown} />}
              </div>
              {data && !(activity.error && !activity.data) && <RewardTiles data={activity.data} today={data.today} />}
              {!hasFailed && <DaysChart overview={data} figures={shown} retry={asked.reload} />}
              {/* Below the content that is there first, so that nothing moves when the checklist arrives. */}
              {data?.publisher.approved && checklist}
              {data && <Health activity={activity} />}
              {!hasFailed && <TopLists period={period} range={shown?.range} />}
            </>
          )}
        </>
      )}
    </>
  );
}

const periodText = ({ start_date: start, end_date: end }: DateRange) => dateRangeText(start, end);

function hasNoNumbers({ reports }: Data): boolean {
  return !isRefusal(reports.days) && !reports.days.rows.some((row) => row.revenue || row.clicks || row.impressions);
}
