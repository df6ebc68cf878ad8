// Filters of the delivery log. The address holds them, so that a link shows the same; ids of transactions and users
// stand in its fragment, which no server sees.

import { endOf, isDate, startOf } from "../../../shared/format";
import { oneOf, queryText } from "../../../shared/query-text";
import { conditions } from "../../messages/rewards";
import type { ReplayQuestion, RewardDelivery, RewardFilter, RewardState } from "../../types";

export const STATES: RewardState[] = ["approved", "pending", "held", "rejected", "reversed", "refused"];
export const DELIVERIES: RewardDelivery[] = ["waiting", "delivered", "dead", "not_wanted", "no_endpoint"];

/** What the form shows. Empty text is no condition. */
export interface LogFilter {
  app: string;
  state: RewardState | "";
  delivery: RewardDelivery | "";
  status: string;
  from: string;
  to: string;
  transaction: string;
  user: string;
}

export const NO_FILTER: LogFilter = {
  app: "",
  state: "",
  delivery: "",
  status: "",
  from: "",
  to: "",
  transaction: "",
  user: "",
};

export const isStatus = (text: string) => text === "" || /^[1-5]\d\d$/.test(text);
const date = (text: string | null) => (text && isDate(text) ? text : "");

export function parseFilter(search: string, hash: string): LogFilter {
  const query = new URLSearchParams(search);
  const fragment = new URLSearchParams(hash.slice(1));
  const app = query.get("app") ?? "";
  const status = query.get("status") ?? "";
  return {
    app: /^\d{8}$/.test(app) ? app : "",
    state: oneOf(query.get("state"), STATES),
    delivery: oneOf(query.get("delivery"), DELIVERIES),
    status: isStatus(status) ? status : "",
    from: date(query.get("from")),
    to: date(query.get("to")),
    transaction: fragment.get("transaction") ?? "",
    user: fragment.get("user") ?? "",
  };
}

export const searchOf = ({ app, state, delivery, status, from, to }: LogFilter) =>
  queryText({ app, state, delivery, status, from, to });

export const hashOf = ({ transaction, user }: LogFilter) => queryText({ transaction, user }, "#");

/** As the API takes it. A user id is one of an app, so without an app it is no condition. */
export function queryOf(filter: LogFilter): RewardFilter {
  const query: RewardFilter = {};
  if (filter.app) query.app_id = filter.app;
  if (filter.state) query.state = filter.state;
  if (filter.delivery) query.delivery = filter.delivery;
  if (filter.status && isStatus(filter.status)) query.http_status = Number(filter.status);
  if (filter.from) query.from = startOf(filter.from);
  if (filter.to) query.to = endOf(filter.to);
  if (filter.transaction) query.transaction_id = filter.transaction;
  if (filter.user && filter.app) query.user_id = filter.user;
  return query;
}

/** A replay of what the log shows of an app. Without `until`, it is all until now. */
export function replayOf(shown: LogFilter, now: number): ReplayQuestion {
  const { app_id, to, ...filter } = queryOf(shown);
  const until = to ?? now;
  return { filter, ...(until < now && { until }) };
}

/** The conditions of a filter that the dialog of a replay does not let choose, in words. */
export const fixedConditions = ({ state, status, transaction, user }: LogFilter) =>
  conditions({ state, status, transaction, user });
