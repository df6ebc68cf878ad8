// A publisher's figures, the callbacks that need somebody, and its apps.

import { isBehind } from "../../../shared/behind";
import type { CachedView } from "../../../shared/cache";
import { useCached } from "../../../shared/cache";
import { Name } from "../../../shared/components/name";
import { Failed, Skeleton, Stale } from "../../../shared/components/states";
import { type Column, Table } from "../../../shared/components/table";
import { addDays, count, moneyOf } from "../../../shared/format";
import { common } from "../../messages";
import { publishersApi as api } from "../../api/publishers";
import { CallbackBadge } from "../../components/callback-badge";
import { endpoints, figures as text } from "../../messages/publishers";
import { appPath } from "../../router";
import { today } from "../../session";
import type { CallbackState } from "../../types/apps";
import type { Activity, Endpoint, Publisher, RewardCounts } from "../../types/publishers";
import { Apps, useApps } from "./apps";
import { activityKey } from "../cache-keys";

const DAYS = 30;

export function Overview({ publisher: { publisher_id: id } }: { publisher: Publisher }) {
  const activity = useCached(activityKey(id), () => api.activity(id));
  const apps = useApps(id);
  const nameOf = (appId: string) => apps.rows?.find(({ app_id }) => app_id === appId)?.name ?? appId;
  return (
    <>
      <Figures activity={activity} nameOf={nameOf} />
      <Apps apps={apps} />
    </>
  );
}

type NameOf = (appId: string) => string;

function Figures({ activity, nameOf }: { activity: CachedView<Activity>; nameOf: NameOf }) {
  const { data, error, reload } = activity;
  if (!data && error) return <Failed error={error} retry={reload} compact />;
  return (
    <>
      <Stale of={activity} retry={reload} />
      <Tiles data={data} />
      {data && isBehind(data.behind_ms) && (
        <p class="note" role="status">
          {text.behind(data.behind_ms)}
        </p>
      )}
      {data && <Endpoints data={data} nameOf={nameOf} />}
    </>
  );
}

const sum = (days: RewardCounts[], of: (day: RewardCounts) => number) =>
  days.reduce((total, day) => total + of(day), 0);

/** Without data they keep their place. */
function Tiles({ data }: { data: Activity | undefined }) {
  const from = addDays(today(), -DAYS);
  const days = data?.days.filter(({ date }) => date >= from) ?? [];
  const usd = (of: (day: RewardCounts) => number) => moneyOf(sum(days, of));
  const tiles = [
    { label: text.approved, value: sum(days, (day) => day.approved), note: usd((day) => day.approved_micro_usd) },
    { label: text.pending, value: sum(days, (day) => day.pending), note: text.pendingNote },
    { label: text.held, value: sum(days, (day) => day.held), note: text.heldNote },
    { label: text.reversed, value: sum(days, (day) => day.reversed), note: usd((day) => day.reversed_micro_usd) },
    { label: text.rejected, value: sum(days, (day) => day.rejected), note: text.rejectedNote },
    { label: text.refused, value: sum(days, (day) => day.refused), note: text.refusedNote },
  ];
  return (
    <section aria-labelledby="rewards-title">
      <h2 id="rewards-title" class="figures-title">
        {text.title} <span class="note">{text.note}</span>
      </h2>
      <dl class="tiles even">
        {tiles.map(({ label, value, note }) => (
          <div class="tile" key={label}>
            <dt>{label}</dt>
            {data ? (
              <dd>
                <span class="tile-value">{count(value)}</span>
                <span class="tile-change">{note}</span>
              </dd>
            ) : (
              <dd>
                <Skeleton class="tile-skeleton" lines={2} />
              </dd>
            )}
          </div>
        ))}
      </dl>
    </section>
  );
}

type AppEndpoint = Endpoint & { app_id: string };

const ORDER: CallbackState[] = ["disabled", "failing", "none", "healthy"];

const needsSomebody = ({ state, dead, waiting }: Endpoint) =>
  state === "disabled" || state === "failing" || dead > 0 || (state === "none" && waiting > 0);

function Endpoints({ data, nameOf }: { data: Activity; nameOf: NameOf }) {
  const rows = data.apps
    .map(({ app_id, endpoint }): AppEndpoint => ({ app_id, ...endpoint }))
    .filter(needsSomebody)
    .sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || other.dead - one.dead);
  if (rows.length === 0) return <p class="note">{data.apps.length === 0 ? endpoints.none : endpoints.well}</p>;
  return (
    <section class="card" aria-labelledby="endpoints-title">
      <div class="card-head">
        <h2 id="endpoints-title">{endpoints.title}</h2>
      </div>
      <Table stacks name={endpoints.title} columns={columns(nameOf)} rows={rows} rowKey={({ app_id }) => app_id} />
    </section>
  );
}

const columns = (nameOf: NameOf): Column<AppEndpoint>[] => [
  {
    key: "app",
    header: endpoints.app,
    cell: ({ app_id }) => (
      <a href={appPath(app_id)}>
        <Name>{nameOf(app_id)}</Name>
      </a>
    ),
  },
  {
    key: "state",
    header: endpoints.state,
    cell: ({ state, since }) => (
      <>
        <span>
          <CallbackBadge state={state} /> {since !== null && <span class="note">{endpoints.since(since)}</span>}
        </span>
        {endpoints.hints[state] && <span class="cell-second wrap">{endpoints.hints[state]}</span>}
      </>
    ),
  },
  { key: "waiting", header: endpoints.waiting, isNumber: true, cell: ({ waiting }) => count(waiting) },
  { key: "dead", header: endpoints.dead, isNumber: true, cell: ({ dead }) => (dead > 0 ? count(dead) : common.none) },
];
