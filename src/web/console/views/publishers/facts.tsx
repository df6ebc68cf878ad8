// A publisher's facts by day: what was loaded, and what Signpost counted itself.

import { useState } from "preact/hooks";
import { FirstPage } from "../../../shared/components/first-page";
import { More } from "../../../shared/components/more";
import { Empty, Stale } from "../../../shared/components/states";
import { type Column, Table } from "../../../shared/components/table";
import { count, dateText, money } from "../../../shared/format";
import { usePages } from "../../../shared/use-pages";
import { publishersApi as api } from "../../api/publishers";
import { common } from "../../messages";
import { facts as text, publishers } from "../../messages/publishers";
import { may } from "../../session";
import type { DaySums, FactsDay, Publisher } from "../../types/publishers";
import { LoadDay } from "./load-day";

const PAGE_DAYS = 31;

/** The day that is replaced, or any. */
type Open = { date: string | null } | null;

export function Facts({ publisher: { publisher_id: id } }: { publisher: Publisher }) {
  const days = usePages<FactsDay>(`facts ${id}`, async (cursor) => {
    const page = await api.facts(id, PAGE_DAYS, cursor);
    return { rows: page.days, cursor: page.cursor };
  });
  const [open, setOpen] = useState<Open>(null);
  const { rows, first, reload } = days;
  return (
    <section aria-labelledby="facts-title">
      <div class="section-head">
        <div>
          <h2 id="facts-title">{text.title}</h2>
          <p class="note">{text.intro}</p>
        </div>
        {may("manage") && (
          <button type="button" class="button" onClick={() => setOpen({ date: null })}>
            {text.load}
          </button>
        )}
      </div>
      <Stale of={first} retry={reload} />
      {!rows ? (
        <FirstPage of={days} rows={6} />
      ) : rows.length === 0 ? (
        <Empty title={text.emptyTitle}>{text.empty}</Empty>
      ) : (
        <div class="card table-card">
          <Table
            class="days"
            name={text.title}
            columns={columns((date) => setOpen({ date }))}
            rows={rows}
            rowKey={({ date }) => date}
          />
        </div>
      )}
      <More of={days} label={text.more} busy={publishers.loading} />
      {open && (
        <LoadDay
          publisherId={id}
          date={open.date}
          loadedRows={(date) => rows?.find((day) => day.date === date)?.loaded?.rows ?? 0}
          onLoaded={reload}
          onClose={() => setOpen(null)}
        />
      )}
    </section>
  );
}

const number = (
  key: string,
  header: string,
  of: (day: FactsDay) => DaySums | undefined,
  value: (sums: DaySums) => string,
): Column<FactsDay> => ({
  key,
  header,
  isNumber: true,
  cell: (day) => {
    const sums = of(day);
    return sums ? value(sums) : common.none;
  },
});

const loaded = (day: FactsDay) => day.loaded;
const counted = (day: FactsDay) => day.offers;

const columns = (replace: (date: string) => void): Column<FactsDay>[] => [
  {
    key: "date",
    header: text.date,
    cell: ({ date, loaded: { loaded_at: at, loaded_by: by } = {} }) => (
      <>
        {dateText(date)}
        {at !== undefined && (
          <>
            <span class="cell-second no-wrap">{text.loadedOn(at, date)}</span>
            {by && <span class="cell-second">{text.loadedBy(by)}</span>}
          </>
        )}
      </>
    ),
  },
  number("rows", text.loadedRows, loaded, ({ rows }) => count(rows)),
  number("requests", text.loadedRequests, loaded, ({ ad_requests: requests }) => count(requests)),
  number("impressions", text.loadedImpressions, loaded, ({ impressions }) => count(impressions)),
  number("clicks", text.loadedClicks, loaded, ({ clicks }) => count(clicks)),
  number("revenue", text.loadedRevenue, loaded, ({ revenue }) => money(revenue)),
  number("counted-rows", text.countedRows, counted, ({ rows }) => count(rows)),
  number("counted-clicks", text.countedClicks, counted, ({ clicks }) => count(clicks)),
  number("counted-revenue", text.countedRevenue, counted, ({ revenue }) => money(revenue)),
  {
    key: "replace",
    header: text.replace,
    isHeaderHidden: true,
    isNumber: true,
    cell: ({ date }) =>
      may("manage") && (
        <button type="button" class="button small" aria-label={text.replaceOf(date)} onClick={() => replace(date)}>
          {text.replace}
        </button>
      ),
  },
];
