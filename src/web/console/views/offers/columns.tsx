// Columns of offers that several lists share.

import { type Column, column, numberColumn } from "../../../shared/components/table";
import { money } from "../../../shared/format";
import type { Goal, KeptOffer } from "../../../shared/generated/openapi";
import { offers as text, STATE_NAMES } from "../../messages/offers";
import { offerPath } from "../../router";
import { nowSeconds } from "../../session";
import { stateOf } from "./filter";

/** Says whether an offer is live, or why it is not. */
export function StateBadge({ offer }: { offer: KeptOffer }) {
  const state = stateOf(offer, nowSeconds());
  const { starts_at: start, ends_at: end } = offer;
  return (
    <>
      <span class={`badge offer-${state}`}>{STATE_NAMES[state]}</span>
      {state === "not_started" && <span class="cell-second">{text.startsAt(start!)}</span>}
      {state === "ended" && <span class="cell-second">{text.endedAt(end!)}</span>}
      {state === "active" && end != null && <span class="cell-second">{text.endsAt(end)}</span>}
    </>
  );
}

/** The sum over all goals, in USD. */
export const payoutOf = (goals: Goal[]) => goals.reduce((sum, { payout_usd }) => sum + payout_usd, 0);

export const offerColumn: Column<KeptOffer> = column("offer", text.offer, (offer) => (
  <div class="offer">
    <a href={offerPath(offer.offer_id)}>{offer.name}</a>
    <span class="cell-second">
      {offer.offer_id}, {offer.off_type}
    </span>
  </div>
));

export const stateColumn: Column<KeptOffer> = column("state", text.state, (offer) => <StateBadge offer={offer} />);

export const payoutColumn: Column<KeptOffer> = numberColumn("payout", text.payout, ({ goals }) => (
  <span>
    {money(payoutOf(goals))}
    <span class="cell-second">{text.payoutNote(goals.length)}</span>
  </span>
));
