// Filters of the delivery log. The URL holds them, so that a link shows the same log. Ids of transactions and users are
// in the fragment, which no server sees.

import { isDate } from "../../../shared/format";
import { oneOf, queryText } from "../../../shared/query-text";
import { type Conditions, DELIVERIES, filterOf, isStatus } from "../../../shared/rewards/filter";
import type { RewardFilter, RewardQuery, RewardState } from "../../types";

export { fixedConditions, replayOf } from "../../../shared/rewards/filter";

export const STATES: RewardState[] = ["approved", "pending", "held", "rejected", "reversed", "refused"];

/** The values of the form. An empty text means no condition. */
export interface LogFilter extends Required<Conditions> {
  app: string;
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

export const queryOf = (shown: LogFilter): RewardQuery & { filter: RewardFilter } => ({
  ...(shown.app && { app_id: shown.app }),
  filter: filterOf(shown),
});
