// Columns of an app's rewards.

import { Name } from "../../../shared/components/name";
import { NamedId } from "../../../shared/components/named-id";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { exactTimeText, exactMoney } from "../../../shared/format";
import { codeText, filter, KIND_NAMES, list } from "../../../shared/messages/rewards";
import { DeliveryCell, ShortId, State } from "../../../shared/rewards/badges";
import type { Entry } from "../../../shared/generated/openapi";
import { rewards as text } from "../../messages/rewards";
import { offerPath, rewardPath } from "../../router";
import { rewardsHref } from "./filter";

export const columns = (appId: string, hasUser = true): Column<Entry>[] => {
  const all: Column<Entry>[] = [
    column("reward", list.reward, (row) => (
      <>
        {/* A reversal or a notice is part of the story of its original reward. */}
        <a href={rewardPath(appId, row.original_transaction_id ?? row.transaction_id)}>
          <ShortId id={row.transaction_id} />
        </a>
        {row.original_transaction_id && (
          <span class="tag">{KIND_NAMES[row.payout !== undefined && row.payout < 0 ? "reversal" : "notice"]}</span>
        )}
      </>
    )),
    column("time", list.time, (row) => exactTimeText(row.conversion_ts)),
    column("offer", text.offer, (row) => (
      <span class="wrap">
        <a href={offerPath(row.offer_id)}>
          <NamedId id={row.offer_id} name={row.offer_name} />
        </a>
        <span class="cell-second">
          <NamedId id={row.goal_id} name={row.goal_name} />
        </span>
      </span>
    )),
    column("user", filter.user, (row) =>
      row.user_id !== null ? (
        <a href={rewardsHref({ app: appId, user: row.user_id })}>
          <Name>{row.user_id}</Name>
        </a>
      ) : (
        <span class="note">{list.erased}</span>
      ),
    ),
    numberColumn("value", text.value, ({ payout, promised_payout: promised, value }) =>
      payout !== undefined ? (
        <>
          <span>{exactMoney(payout)}</span>
          {value !== undefined && <span class="cell-second">{value}</span>}
        </>
      ) : (
        promised !== undefined && (
          <>
            <span>{exactMoney(promised)}</span>
            <span class="cell-second">{text.ifApproved}</span>
          </>
        )
      ),
    ),
    column("state", filter.state, (row) => (
      <>
        <State state={row.status} />
        {(row.code || row.reason) && (
          <span class="cell-second wrap">
            {row.code ? codeText(row.code) : <Name>{text.inWords(row.reason!)}</Name>}
          </span>
        )}
      </>
    )),
    column(
      "delivery",
      filter.delivery,
      ({ state, attempts }) =>
        state !== null &&
        state !== "refused" && (
          <DeliveryCell delivery={state} status={attempts.at(-1)?.http_status} tries={attempts.length} />
        ),
    ),
  ];
  return all.filter(({ key }) => hasUser || key !== "user");
};
