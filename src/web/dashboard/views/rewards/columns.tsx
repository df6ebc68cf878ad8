// Columns of the delivery log. Analysts see no users.

import { Name } from "../../../shared/components/name";
import type { Column } from "../../../shared/components/table";
import { amount, exactTimeText, smallMoney } from "../../../shared/format";
import { codeText, filter, KIND_NAMES, list } from "../../../shared/messages/rewards";
import { DeliveryCell, ShortId, State } from "../../../shared/rewards/badges";
import { rewards as text } from "../../messages/rewards";
import { rewardPath } from "../../router";
import type { RewardRow } from "../../types";

export function columns(nameOf: (appId: string) => string, isAnalyst: boolean): Column<RewardRow>[] {
  const all: Column<RewardRow>[] = [
    {
      key: "reward",
      header: list.reward,
      cell: (row) => (
        <>
          <a href={rewardPath(row.app_id, row.transaction_id)}>
            <ShortId id={row.transaction_id} />
          </a>
          {row.kind !== "reward" && <span class="tag">{KIND_NAMES[row.kind]}</span>}
        </>
      ),
    },
    { key: "time", header: list.time, cell: (row) => exactTimeText(row.conversion_ts) },
    { key: "app", header: text.app, cell: (row) => <Name>{nameOf(row.app_id)}</Name> },
    {
      key: "offer",
      header: text.offer,
      cell: (row) => (
        <>
          {row.offer_id}
          <Name class="cell-second">{row.goal_id}</Name>
        </>
      ),
    },
    {
      key: "user",
      header: filter.user,
      // An app's own text, whose signs of direction must not turn what stands beside it.
      cell: (row) => (row.user_id ? <Name>{row.user_id}</Name> : <span class="note">{list.erased}</span>),
    },
    {
      key: "amount",
      header: text.amount,
      isNumber: true,
      cell: (row) => (
        <>
          <span>
            {amount(row.value)} <Name>{row.currency}</Name>
          </span>
          <span class="cell-second">{smallMoney(Number(row.payout))}</span>
        </>
      ),
    },
    {
      key: "state",
      header: filter.state,
      cell: (row) => (
        <>
          <State state={row.state} />
          {row.code && <span class="cell-second wrap">{codeText(row.code)}</span>}
        </>
      ),
    },
    {
      key: "delivery",
      header: filter.delivery,
      cell: (row) =>
        row.delivery && <DeliveryCell delivery={row.delivery} status={row.http_status} tries={row.attempts} />,
    },
  ];
  return all.filter(({ key }) => key !== "user" || !isAnalyst);
}
