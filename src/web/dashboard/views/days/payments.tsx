// The rewards and reversals of an offer on a day, each with its own story.

import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Empty } from "../../../shared/components/states";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { exactTimeText, money, moneyOf } from "../../../shared/format";
import { KIND_NAMES } from "../../../shared/messages/rewards";
import { ShortId } from "../../../shared/rewards/badges";
import { usePages } from "../../../shared/use-pages";
import { get } from "../../api";
import { days as text } from "../../messages/days";
import { rewardPath } from "../../router";
import type { Payment } from "../../types";
import { useOffersOfDay } from "./app-of-day";
import { micros, sum } from "./sums";

export function Payments({ date, app, offer }: { date: string; app: string; offer: string }) {
  const pages = usePages<Payment>(`day ${date} ${app} ${offer}`, (cursor) =>
    get("/apps/{app_id}/days/{date}/offers/{offer_id}", { app_id: app, date, offer_id: offer, cursor }),
  );
  const sums = useOffersOfDay({ date, app }).data?.find(({ offer_id }) => offer_id === offer);
  const rows = pages.rows ?? [];
  return (
    <>
      <LoadedTable
        of={pages.list}
        lines={8}
        empty={!pages.hasMore && <Empty title={text.noPayments} />}
        name={text.paymentsTitle}
        columns={columns(app, pages.hasMore ? null : sum(rows, ({ payout }) => micros(payout)))}
        rowKey="transaction_id"
        hasTotals={!pages.hasMore && rows.length > 1}
      />
      <More of={pages} />
      {sums && (
        <p class="note">
          {text.sums(money(sums.revenue), money(sums.paid))} {sums.reason && text.reasons[sums.reason]}
        </p>
      )}
    </>
  );
}

const columns = (app: string, total: number | null): Column<Payment>[] => [
  column(
    "reward",
    text.reward,
    ({ transaction_id: id, kind }) => (
      <>
        <a href={rewardPath(app, id)}>
          <ShortId id={id} />
        </a>
        {kind !== "reward" && <span class="tag">{KIND_NAMES[kind]}</span>}
      </>
    ),
    { total: text.total },
  ),
  column("time", text.time, ({ conversion_ts: at }) => exactTimeText(at)),
  column("goal", text.goal, ({ goal_id: goal }) => goal),
  numberColumn("amount", text.amount, ({ payout }) => money(payout), { total: total !== null && moneyOf(total) }),
];
