// Filters of an app's rewards. The URL holds them. A user id is in the fragment, which no server sees.

import { oneOf, queryText } from "../../../shared/query-text";
import { type Conditions, DELIVERIES } from "../../../shared/rewards/filter";
import { isAppId } from "../../ids";
import { REWARDS_PATH } from "../../router";
import type { RewardState } from "../../types";
import type { Settling } from "../../messages/rewards";

export const STATES: RewardState[] = ["held", "pending", "approved", "rejected", "reversed", "refused"];

/** The values of the form. An empty text means no condition. */
export interface RewardsFilter extends Pick<Conditions, "state" | "delivery" | "user"> {
  app: string;
  reason: string;
}

export const NO_FILTER: RewardsFilter = { app: "", state: "", delivery: "", reason: "", user: "" };

export function parseFilter(search: string, hash: string): RewardsFilter {
  const query = new URLSearchParams(search);
  const app = query.get("app") ?? "";
  return {
    app: isAppId(app) ? app : "",
    state: oneOf(query.get("status"), STATES),
    delivery: oneOf(query.get("delivery"), DELIVERIES),
    reason: query.get("reason") ?? "",
    user: new URLSearchParams(hash.slice(1)).get("user") ?? "",
  };
}

export const searchOf = ({ app, state, delivery, reason }: RewardsFilter) =>
  queryText({ app, status: state, delivery, reason });

export const hashOf = ({ user }: RewardsFilter) => queryText({ user }, "#");

/** The URL of the list with a filter. */
export const rewardsHref = (filter: Partial<RewardsFilter>) => {
  const all = { ...NO_FILTER, ...filter };
  return REWARDS_PATH + searchOf(all) + hashOf(all);
};

export const isFiltered = (filter: RewardsFilter) =>
  JSON.stringify({ ...filter, app: "" }) !== JSON.stringify(NO_FILTER);

/** The filter as a query of the API. */
export const queryOf = ({ state, delivery, reason, user }: RewardsFilter) => ({
  ...(state && { status: state }),
  ...(delivery && { state: delivery }),
  ...(reason && { reason }),
  ...(user && { user_id: user }),
});

/** The possible actions on rewards, by their state. */
export const ACTIONS: Record<RewardState, Settling[]> = {
  held: ["approve", "reject"],
  pending: ["approve", "reject"],
  refused: ["approve"],
  approved: ["reverse"],
  rejected: [],
  reversed: [],
};
