// Columns of the delivery log. Analysts see no users.

import { Name } from "../../../shared/components/name";
import { NamedId } from "../../../shared/components/named-id";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { TEST } from "../../../shared/messages/apps";
import { isTestReward, TestTag } from "../../../shared/test-apps";
import { amount, exactTimeText, exactMoney } from "../../../shared/format";
import { codeText, filter, KIND_NAMES, list } from "../../../shared/messages/rewards";
import { DeliveryCell, ShortId, State } from "../../../shared/rewards/badges";
import { rewards as text } from "../../messages/rewards";
import { rewardPath } from "../../router";
import type { RewardRow } from "../../types";

export function columns(nameOf: (appId: string) => string, isAnalyst: boolean): Column<RewardRow>[] {
  const all: Column<RewardRow>[] = [
    column("reward", list.reward, (row) => (
      <>
        <a href={rewardPath(row.app_id, row.transaction_id)}>
          <ShortId id={row.transaction_id} />
        </a>
        <TestTag of={isTestReward(row.transaction_id)} name={TEST} />
        {row.kind !== "reward" && <span class="tag">{KIND_NAMES[row.kind]}</span>}
      </>
    )),
    column("time", list.time, (row) => exactTimeText(row.conversion_ts)),
    column("app", text.app, (row) => <Name>{nameOf(row.app_id)}</Name>),
    column("offer", text.offer, (row) => (
      <span class="wrap">
        <NamedId id={row.offer_id} name={row.offer_name} />
        <span class="cell-second">
          <NamedId id={row.goal_id} name={row.goal_name} />
        </span>
      </span>
    )),
    // The app chooses this text. Its direction marks must not reorder the text next to it.
    column("user", filter.user, (row) =>
      row.user_id ? <Name>{row.user_id}</Name> : <span class="note">{list.erased}</span>,
    ),
    numberColumn("amount", text.amount, (row) => (
      <>
        <span>
          {amount(row.value)} <Name>{row.currency}</Name>
        </span>
        <span class="cell-second">{exactMoney(Number(row.payout))}</span>
      </>
    )),
    column("state", filter.state, (row) => (
      <>
        <State state={row.state} />
        {row.code && <span class="cell-second wrap">{codeText(row.code)}</span>}
      </>
    )),
    column(
      "delivery",
      filter.delivery,
      (row) => row.delivery && <DeliveryCell delivery={row.delivery} status={row.http_status} tries={row.attempts} />,
    ),
  ];
  return all.filter(({ key }) => key !== "user" || !isAnalyst);
}
