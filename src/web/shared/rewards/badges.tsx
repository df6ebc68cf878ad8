// Short signs of a reward: its state, its callback and its id.

import { DELIVERY_NAMES, list, STATE_NAMES } from "../messages/rewards";
import type { RewardDelivery, RewardState } from "../types";

const SHORT_ID = 8;

export const State = ({ state }: { state: RewardState }) => (
  <span class={`badge ${state}`}>{STATE_NAMES[state] ?? state}</span>
);

export const Delivery = ({ delivery }: { delivery: RewardDelivery }) => (
  <span class={`badge ${delivery}`}>{DELIVERY_NAMES[delivery] ?? delivery}</span>
);

interface DeliveryProps {
  delivery: RewardDelivery;
  /** The HTTP status of the last try. */
  status: number | null | undefined;
  tries: number | null | undefined;
}

/** The callback of a reward in a list. */
export const DeliveryCell = ({ delivery, status, tries }: DeliveryProps) => (
  <>
    <Delivery delivery={delivery} />
    <span class="cell-second">{list.tries(status, tries)}</span>
  </>
);

/** Shows the last digits, because the first ones name the shard and the app. Screen readers read the whole id. */
export const ShortId = ({ id }: { id: string }) => (
  <code class="short-id" title={id}>
    <span aria-hidden="true">{id.length > SHORT_ID ? `…${id.slice(-SHORT_ID)}` : id}</span>
    <span class="visually-hidden">{id}</span>
  </code>
);
