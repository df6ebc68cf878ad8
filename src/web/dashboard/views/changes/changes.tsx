// Changes of days that were final: what changed, by how much and why.

import { Heading } from "../../../shared/components/heading";
import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Name } from "../../../shared/components/name";
import { Empty } from "../../../shared/components/states";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { count, dateWithWeekday, money, moneyOf, signed, timeText } from "../../../shared/format";
import { usePages } from "../../../shared/use-pages";
import { get } from "../../api";
import { common, METRIC_NAMES } from "../../messages";
import { changes as text } from "../../messages/days";
import { dayPath } from "../../router";
import { session } from "../../session";
import type { DayChange, DayChanges, Measure } from "../../types";
import { useAppNames } from "../app-names";
import { micros } from "../days/sums";

// Ad figures other than the revenue, which has its own columns.
const OTHERS: Measure[] = ["impressions", "clicks", "ad_requests", "ad_responses"];

const page = async (cursor: string | null) => {
  const { changes, has_more, final_through, cursor: next } = await get("/changes", { cursor });
  return { rows: changes, cursor: has_more ? next : null, final_through };
};

export function Changes() {
  const pages = usePages<DayChange, Pick<DayChanges, "final_through">>("day_changes", page);
  const { nameOf } = useAppNames();
  const { data } = pages.first;
  return (
    <>
      <Heading
        title={text.title}
        within={session.value ? [session.value.publisher.name] : []}
        note={data ? text.intro(data.final_through) : common.loading}
      />
      <LoadedTable
        of={pages.list}
        lines={4}
        empty={<Empty title={text.emptyTitle}>{text.empty}</Empty>}
        name={text.title}
        columns={columns(nameOf)}
        rowKey={(_, index) => index}
      >
        <More of={pages} />
      </LoadedTable>
    </>
  );
}

const columns = (nameOf: (appId: string) => string): Column<DayChange>[] => [
  column("date", text.date, ({ date, app_id }) => (
    <a class="no-wrap" href={dayPath(date, app_id)}>
      {dateWithWeekday(date)}
    </a>
  )),
  column("app", text.app, ({ app_id }) => <Name>{nameOf(app_id)}</Name>),
  numberColumn("revenue", text.revenue, ({ before, after }) => (
    <>
      {money(after.revenue)}
      <span class="cell-second">{text.was(money(before.revenue))}</span>
    </>
  )),
  numberColumn("difference", text.difference, ({ before, after }) =>
    signed(micros(after.revenue) - micros(before.revenue), moneyOf),
  ),
  column("cause", text.cause, ({ cause, changed_ts: at }) => (
    <>
      {text.causes[cause]}
      <span class="cell-second">{timeText(at)}</span>
    </>
  )),
  column("others", text.others, ({ before, after }) => {
    const changed = OTHERS.filter((measure) => before[measure] !== after[measure]);
    if (changed.length === 0) return common.none;
    const all = changed.map((measure) => `${METRIC_NAMES[measure]} ${signed(after[measure] - before[measure], count)}`);
    return <span class="wrap">{all.join(", ")}</span>;
  }),
];
