// The badge that says whether an offer is live, or why it is not.

import type { KeptOffer } from "../../../shared/generated/openapi";
import { offers as text, STATE_NAMES } from "../../messages/offers";
import { nowSeconds } from "../../session";
import { stateOf } from "./filter";

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
