// A publisher's facts by day: those that were loaded, and those that Signpost counted itself.

import { useState } from "preact/hooks";
import { confirmed } from "../../../shared/change";
import { Button } from "../../../shared/components/button";
import { Confirm } from "../../../shared/components/form-dialog";
import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { RowButton } from "../../../shared/components/row-button";
import { Empty } from "../../../shared/components/states";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { count, dateText, money } from "../../../shared/format";
import { pageOf } from "../../../shared/page-of";
import { usePages } from "../../../shared/use-pages";
import type { DayList, DaySums, KeptPublisher } from "../../../shared/generated/openapi";
import { get, put } from "../../api";
import { common } from "../../messages";
import { facts as text, restate } from "../../messages/publishers";
import { may, today } from "../../session";
import { NO_FACTS } from "./facts-file";
import { LoadDay } from "./load-day";
import { Part } from "./part";
import { RestateDay } from "./restate-day";

const PAGE_DAYS = 31;
const CSV = { "Content-Type": "text/csv" };

type FactsDay = DayList["days"][number];

/** The open dialog. In the dialog that loads a day, the day may still have to be chosen. */
type Open = { dialog: "load"; date: string | null } | { dialog: "nothing" | "restate"; date: string };

export function Facts({ publisher: { publisher_id } }: { publisher: KeptPublisher }) {
  const days = usePages(`facts ${publisher_id}`, (cursor) =>
    get("/publishers/{publisher_id}/facts", { publisher_id, limit: PAGE_DAYS, cursor }).then(pageOf("days")),
  );
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const load = <Button onClick={() => setOpen({ dialog: "load", date: null })}>{text.load}</Button>;
  return (
    <Part title={text.title} intro={text.intro} action={may("manage") && load}>
      <LoadedTable
        of={days.list}
        lines={6}
        empty={<Empty title={text.emptyTitle}>{text.empty}</Empty>}
        class="days"
        name={text.title}
        columns={columns(setOpen)}
        rowKey="date"
      />
      <More of={days} label={text.more} busy={common.loading} />
      {open?.dialog === "load" && (
        <LoadDay
          publisherId={publisher_id}
          date={open.date}
          loadedRows={(date) => days.rows?.find((day) => day.date === date)?.loaded?.rows ?? 0}
          onLoaded={days.reload}
          onClose={close}
        />
      )}
      {open?.dialog === "nothing" && (
        <Confirm
          title={text.nothingTitle(open.date)}
          text={text.nothingText}
          button={text.nothing}
          onConfirm={confirmed(
            () => put("/publishers/{publisher_id}/facts/{date}", { publisher_id, date: open.date }, NO_FACTS, CSV),
            text.nothingDone(open.date),
            days.reload,
          )}
          onClose={close}
        />
      )}
      {open?.dialog === "restate" && (
        <RestateDay publisherId={publisher_id} date={open.date} onRestated={days.reload} onClose={close} />
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

const BADGES: Record<FactsDay["state"], string> = {
  not_loaded: "",
  open: "",
  final: "approved",
  final_unconfirmed: "held",
};

const columns = (open: (dialog: Open) => void): Column<FactsDay>[] => [
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
  column("state", text.state, (day) => (
    <>
      <span class={`badge ${BADGES[day.state]}`}>{text.states[day.state]}</span>
      {may("manage") && <Actions day={day} open={open} />}
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
];

function Actions({ day: { date, state }, open }: { day: FactsDay; open: (dialog: Open) => void }) {
  const isOver = date < today();
  const replace = text.replace(state !== "not_loaded");
  const button = (name: string, label: string, dialog: Open["dialog"]) => (
    <RowButton name={name} label={label} onClick={() => open({ dialog, date })} />
  );
  return (
    <div class="row-buttons">
      {isOver && state === "not_loaded" && button(text.nothing, text.nothingOf(date), "nothing")}
      {isOver && button(restate.name, restate.of(date), "restate")}
      {button(replace, `${replace} ${dateText(date)}`, "load")}
    </div>
  );
}
