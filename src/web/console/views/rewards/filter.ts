// Filters of an app's rewards. The address holds them; a user id stands in its fragment, which no server sees.

import { endOf, startOf } from "../../../shared/format";
import { oneOf, queryText } from "../../../shared/query-text";
import { STATE_NAMES } from "../../../shared/messages/rewards";
import { isAppId } from "../../ids";
import { rewards as text } from "../../messages/rewards";
import { REWARDS_PATH } from "../../router";
import { nowSeconds } from "../../session";
import type { RewardDelivery, RewardFilter, RewardState } from "../../types";
import type { EntryQuery, Settling } from "../../types/rewards";

export const STATES: RewardState[] = ["held", "pending", "approved", "rejected", "reversed", "refused"];
export const DELIVERIES: RewardDelivery[] = ["waiting", "delivered", "dead", "not_wanted", "no_endpoint"];

/** What the form shows. Empty text is no condition. */
export interface RewardsFilter {
  app: string;
  status: RewardState | "";
  state: RewardDelivery | "";
  reason: string;
  user: string;
}

export const NO_FILTER: RewardsFilter = { app: "", status: "", state: "", reason: "", user: "" };

export function parseFilter(search: string, hash: string): RewardsFilter {
  const query = new URLSearchParams(search);
  const app = query.get("app") ?? "";
  return {
    app: isAppId(app) ? app : "",
    status: oneOf(query.get("status"), STATES),
    // The word of the publisher's dashboard, whose links are alike.
    state: oneOf(query.get("delivery"), DELIVERIES),
    reason: query.get("reason") ?? "",
    user: new URLSearchParams(hash.slice(1)).get("user") ?? "",
  };
}

export const searchOf = ({ app, status, state, reason }: RewardsFilter) =>
  queryText({ app, status, delivery: state, reason });

export const hashOf = ({ user }: RewardsFilter) => queryText({ user }, "#");

/** The list with a filter. */
export const rewardsHref = (filter: Partial<RewardsFilter>) => {
  const all = { ...NO_FILTER, ...filter };
  return REWARDS_PATH + searchOf(all) + hashOf(all);
};

/** As the API takes it. */
export function queryOf({ status, state, reason, user }: RewardsFilter): EntryQuery {
  return {
    ...(status && { status }),
    ...(state && { state }),
    ...(reason && { reason }),
    ...(user && { user_id: user }),
  };
}

/** What a replay of the list sends, but for a reason, which replays do not have. */
export function replayOf({ status, state, user }: RewardsFilter, from: string, to: string): RewardFilter {
  const until = to ? endOf(to) : Infinity;
  return {
    ...(status && { state: status }),
    ...(state && { delivery: state }),
    ...(user && { user_id: user }),
    ...(from && { from: startOf(from) }),
    ...(until < nowSeconds() && { until }),
  };
}

/** The conditions that the dialog of a replay does not let choose, in words. */
export function fixedConditions({ status, user }: RewardsFilter): string {
  const all = [status && `${text.state} ${STATE_NAMES[status]}`, user && `${text.user} ${user}`];
  return all.filter(Boolean).join(", ");
}

/** What can be done with rewards of a state. */
export const ACTIONS: Record<RewardState, Settling[]> = {
  held: ["approve", "reject"],
  pending: ["approve", "reject"],
  refused: ["approve"],
  approved: ["reverse"],
  rejected: [],
  reversed: [],
};
