// A publisher's facts by day: what was loaded, and what Signpost counted itself.

import { useState } from "preact/hooks";
import { Button } from "../../../shared/components/button";
import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { buttonColumn } from "../../../shared/components/row-button";
import { Empty } from "../../../shared/components/states";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { count, dateText, money } from "../../../shared/format";
import { pageOf } from "../../../shared/page-of";
import { usePages } from "../../../shared/use-pages";
import { publishersApi as api } from "../../api/publishers";
import { common } from "../../messages";
import { facts as text } from "../../messages/publishers";
import { may } from "../../session";
import type { DaySums, FactsDay, Publisher } from "../../types/publishers";
import { LoadDay } from "./load-day";
import { Part } from "./part";

const PAGE_DAYS = 31;

/** The day that is replaced, or any. */
type Open = { date: string | null } | null;

export function Facts({ publisher: { publisher_id: id } }: { publisher: Publisher }) {
  const days = usePages(`facts ${id}`, (cursor) => api.facts(id, PAGE_DAYS, cursor).then(pageOf("days")));
  const [open, setOpen] = useState<Open>(null);
  const load = <Button onClick={() => setOpen({ date: null })}>{text.load}</Button>;
  return (
    <Part title={text.title} intro={text.intro} action={may("manage") && load}>
      <LoadedTable
        of={days.list}
        lines={6}
        empty={<Empty title={text.emptyTitle}>{text.empty}</Empty>}
        class="days"
        stacks={false}
        name={text.title}
        columns={columns(setOpen)}
        rowKey={({ date }) => date}
      />
      <More of={days} label={text.more} busy={common.loading} />
      {open && (
        <LoadDay
          publisherId={id}
          date={open.date}
          loadedRows={(date) => days.rows?.find((day) => day.date === date)?.loaded?.rows ?? 0}
          onLoaded={days.reload}
          onClose={() => setOpen(null)}
        />
      )}
    </Part>
  );
}

const number = (
  key: string,
  header: string,
  of: (day: FactsDay) => DaySums | undefined,
  value: (sums: DaySums) => string,
): Column<FactsDay> =>
  numberColumn(key, header, (day) => {
    const sums = of(day);
    return sums ? value(sums) : common.none;
  });

const loaded = (day: FactsDay) => day.loaded;
const counted = (day: FactsDay) => day.offers;

const columns = (open: (day: FactsDay) => void): Column<FactsDay>[] => [
  column("date", text.date, ({ date, loaded: { loaded_at: at, loaded_by: by } = {} }) => (
    <>
      {dateText(date)}
      {at !== undefined && (
        <>
          <span class="cell-second no-wrap">{text.loadedOn(at, date)}</span>
          {by && <span class="cell-second">{text.loadedBy(by)}</span>}
        </>
      )}
    </>
  )),
  number("rows", text.loadedRows, loaded, ({ rows }) => count(rows)),
  number("requests", text.loadedRequests, loaded, ({ ad_requests: requests }) => count(requests)),
  number("impressions", text.loadedImpressions, loaded, ({ impressions }) => count(impressions)),
  number("clicks", text.loadedClicks, loaded, ({ clicks }) => count(clicks)),
  number("revenue", text.loadedRevenue, loaded, ({ revenue }) => money(revenue)),
  number("counted-rows", text.countedRows, counted, ({ rows }) => count(rows)),
  number("counted-clicks", text.countedClicks, counted, ({ clicks }) => count(clicks)),
  number("counted-revenue", text.countedRevenue, counted, ({ revenue }) => money(revenue)),
  buttonColumn({
    name: text.replace,
    labelOf: ({ date }) => text.replaceOf(date),
    isShown: () => may("manage"),
    onClick: open,
  }),
];
