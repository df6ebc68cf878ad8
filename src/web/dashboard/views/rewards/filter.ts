// Filters of the delivery log. The address holds them, so that a link shows the same; ids of transactions and users
// stand in its fragment, which no server sees.

import { endOf, isDate, startOf } from "../../../shared/format";
import { oneOf, queryText } from "../../../shared/query-text";
import { conditions } from "../../messages/rewards";
import type { RewardDelivery, RewardFilter, RewardQuery, RewardState } from "../../types";

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
export function queryOf(shown: LogFilter): RewardQuery & { filter: RewardFilter } {
  const filter: RewardFilter = {};
  if (shown.state) filter.state = shown.state;
  if (shown.delivery) filter.delivery = shown.delivery;
  if (shown.status && isStatus(shown.status)) filter.http_status = Number(shown.status);
  if (shown.from) filter.from = startOf(shown.from);
  if (shown.to) filter.until = endOf(shown.to);
  if (shown.transaction) filter.transaction_id = shown.transaction;
  if (shown.user && shown.app) filter.user_id = shown.user;
  return { ...(shown.app && { app_id: shown.app }), filter };
}

/** What a replay of the log sends. Without `until`, it is all until now. */
export function replayOf(shown: LogFilter, now: number): RewardFilter {
  const { until, ...filter } = queryOf(shown).filter;
  return { ...filter, ...(until && until < now && { until }) };
}

/** The conditions of a filter that the dialog of a replay does not let choose, in words. */
export const fixedConditions = ({ state, status, transaction, user }: LogFilter) =>
  conditions({ state, status, transaction, user });
