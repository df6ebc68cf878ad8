// Overview: how the last 30 complete days went, against the same weekdays 5 weeks before.

import { useEffect } from "preact/hooks";
import { refresh, useCached } from "../../../shared/cache";
import { Heading } from "../../../shared/components/heading";
import { Empty, Failed, Stale } from "../../../shared/components/states";
import { addDays, dateRangeText } from "../../../shared/format";
import { common, dataThrough, overview as text } from "../../messages";
import { loadOverview, OVERVIEW_KEY } from "../../session";
import { isRefusal, type Overview as Data } from "../../types";
import { ACTIVITY_KEY, useActivity } from "../use-activity";
import { Checklist, Health, RewardTiles } from "./activity";
import { DaysChart } from "./days-chart";
import { Approval, Notices } from "./notices";
import { Tiles } from "./tiles";
import { TopLists } from "./top-lists";
import { Trouble } from "./trouble";

const ACTIVITY_MILLISECONDS = 10_000;

export function Overview() {
  const cached = useCached(OVERVIEW_KEY, loadOverview);
  const { data, error, reload } = cached;
  // After the key numbers, which it must not hold up.
  const activity = useActivity(data !== undefined);
  // A publisher that goes live waits for the next tick.
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && void refresh(ACTIVITY_KEY), ACTIVITY_MILLISECONDS);
    return () => clearInterval(timer);
  }, []);
  const checklist = data && activity.data && <Checklist first={activity.data.first} role={data.member.role} />;
  const note = data ? (
    <>
      {text.period(dateRangeText(addDays(data.last_day, -29), data.last_day))}
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
      <Heading title={text.title} within={data ? [data.publisher.name] : []} note={note} />
      {error && !data ? (
        <Failed error={error} retry={reload} />
      ) : (
        <>
          <Stale of={cached} retry={reload} />
          {data && <Notices notices={data.notices} contact={data.support_contact} />}
          {data && <Trouble overview={data} data={activity.data} role={data.member.role} />}
          {data && !data.publisher.approved && <Approval overview={data} />}
          {data && hasNoNumbers(data) ? (
            data.publisher.approved && (
              <>
                <Empty title={text.emptyTitle}>{text.empty}</Empty>
                {checklist}
              </>
            )
          ) : (
            <>
              <Tiles overview={data} />
              {data && !(activity.error && !activity.data) && <RewardTiles data={activity.data} today={data.today} />}
              <DaysChart overview={data} retry={reload} />
              {/* Below what is there first, so that nothing moves when it arrives. */}
              {data?.publisher.approved && checklist}
              {data && <Health activity={activity} role={data.member.role} />}
              <TopLists overview={data} />
            </>
          )}
        </>
      )}
    </>
  );
}

function hasNoNumbers({ reports }: Data): boolean {
  return !isRefusal(reports.days) && !reports.days.rows.some((row) => row.revenue || row.clicks || row.impressions);
}
