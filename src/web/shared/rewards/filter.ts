// The conditions of a list of rewards: as values of its form, as a filter of the API, and in words.

import { endOf, startOf } from "../format";
import { DELIVERY_NAMES, filter as text, STATE_NAMES } from "../messages/rewards";
import type { RewardDelivery, RewardFilter, RewardState } from "../types";

export const DELIVERIES = Object.keys(DELIVERY_NAMES) as RewardDelivery[];

/** An empty text means no condition. */
export interface Conditions {
  state: RewardState | "";
  delivery: RewardDelivery | "";
  /** The HTTP status of the last try. */
  status?: string;
  from?: string;
  to?: string;
  transaction?: string;
  user: string;
}

export const isStatus = (status: string) => status === "" || /^[1-5]\d\d$/.test(status);

export const filterOf = ({ state, delivery, status, from, to, transaction, user }: Conditions): RewardFilter => ({
  ...(state && { state }),
  ...(delivery && { delivery }),
  ...(status && isStatus(status) && { http_status: Number(status) }),
  ...(from && { from: startOf(from) }),
  ...(to && { until: endOf(to) }),
  ...(transaction && { transaction_id: transaction }),
  ...(user && { user_id: user }),
});

/** The filter of a replay. Without `until`, it covers all rewards until now. */
export function replayOf(conditions: Conditions, now: number): RewardFilter {
  const { until, ...filter } = filterOf(conditions);
  return { ...filter, ...(until && until < now && { until }) };
}

/** The conditions that cannot be chosen in the dialog of a replay, in words. */
export function fixedConditions({ state, status, transaction, user }: Conditions): string {
  const all = [
    state && `${text.state} ${STATE_NAMES[state]}`,
    status && `${text.status} ${status}`,
    transaction && `${text.transaction} ${transaction}`,
    user && `${text.user} ${user}`,
  ];
  return all.filter(Boolean).join(", ");
}
