// Whether an offer is live, and why it is not.

import { offers as text, STATE_NAMES } from "../../messages/offers";
import type { KeptOffer } from "../../types/offers";
import { stateOf } from "./filter";

export const nowSeconds = () => Math.floor(Date.now() / 1000);

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
