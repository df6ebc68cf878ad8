// Rewards of the last 30 days, and the health of the apps' callbacks.

import type { ComponentChildren } from "preact";
import { type Column, column, numberColumn } from "../components/table";
import { addDays, count } from "../format";
import { CALLBACK_STATE_NAMES, callbacks as text } from "../messages/apps";
import { common } from "../messages/common";
import { isTestApp } from "../test-apps";
import type { Activity, CallbackState, EndpointHealth, RewardCounts } from "../types";

const DAYS = 30;

/** Sums over the last 30 days and today. */
export function sumsOf(data: Activity | undefined, today: string) {
  const from = addDays(today, -DAYS);
  const days = data?.days.filter(({ date }) => date >= from) ?? [];
  return (of: (day: RewardCounts) => number) => days.reduce((total, day) => total + of(day), 0);
}

export type AppCallback = EndpointHealth & { app_id: string };

const ORDER: CallbackState[] = ["disabled", "failing", "none", "healthy"];

/** The callbacks of apps other than test apps. Those that need attention come first. */
export const callbacksOf = (data: Activity): AppCallback[] =>
  data.apps
    .filter(({ app_id }) => !isTestApp(app_id))
    .map(({ app_id, endpoint }) => ({ app_id, ...endpoint }))
    .sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || other.dead - one.dead);

export const CallbackBadge = ({ state }: { state: CallbackState }) => (
  <span class={`badge ${state}`}>{CALLBACK_STATE_NAMES[state] ?? state}</span>
);

interface Cells {
  app: (appId: string) => ComponentChildren;
  hints: Record<CallbackState, string>;
  /** Shown below the state. */
  belowState?: (callback: AppCallback) => ComponentChildren;
  /** The cell for callbacks that were given up, if there are any. */
  dead?: (callback: AppCallback) => ComponentChildren;
}

export const callbackColumns = ({ app, hints, belowState, dead }: Cells): Column<AppCallback>[] => [
  column("app", text.app, ({ app_id }) => app(app_id)),
  column("state", text.state, (callback) => (
    <>
      <span>
        <CallbackBadge state={callback.state} />{" "}
        {callback.since !== null && <span class="note">{text.since(callback.since)}</span>}
      </span>
      {hints[callback.state] && <span class="cell-second wrap">{hints[callback.state]}</span>}
      {belowState?.(callback)}
    </>
  )),
  numberColumn("waiting", text.waiting, ({ waiting }) => count(waiting)),
  numberColumn("dead", text.dead, (callback) =>
    callback.dead === 0 ? common.none : dead ? dead(callback) : count(callback.dead),
  ),
];
