// Rewards of the last 30 days, the health of callbacks, and the checklist until everything has happened once.

import { isBehind } from "../../../shared/behind";
import { Check } from "../../../shared/components/icons";
import { Name } from "../../../shared/components/name";
import { Failed, Skeleton, Stale } from "../../../shared/components/states";
import { type Column, Table } from "../../../shared/components/table";
import { addDays, count, moneyOf } from "../../../shared/format";
import { common, overview } from "../../messages";
import { activity as text } from "../../messages/activity";
import { appPath, APPS_PATH, givenUpPath, REPLAY_HASH, REWARDS_PATH } from "../../router";
import { settingsPath } from "../../../shared/account/settings";
import { may } from "../../session";
import type { Activity as Data, EndpointHealth, Firsts, RewardCounts, Role } from "../../types";
import { useAppNames } from "../app-names";
import type { CachedView } from "../../../shared/cache";

const DAYS = 30;

const STEPS: (keyof Firsts)[] = ["list", "click", "conversion", "callback", "report"];
const LINKS: Record<keyof Firsts, string> = {
  list: settingsPath("pub_key"),
  click: APPS_PATH,
  conversion: REWARDS_PATH,
  callback: APPS_PATH,
  report: settingsPath("keys"),
};

export function Checklist({ first: told, role }: { first: Firsts; role: Role }) {
  // A later event proves the earlier ones: a conversion is of a click, and a click of an offer that was listed.
  const click = told.click ?? told.conversion;
  const first = { ...told, click, list: told.list ?? click };
  const done = STEPS.filter((step) => first[step] !== null).length;
  if (done === STEPS.length) return null;
  const { title, intro, progress, at, steps, hints, links } = text.checklist;
  return (
    <section class="card padded checklist" aria-labelledby="checklist-title">
      <h2 id="checklist-title">{title}</h2>
      <p class="note">
        {intro} {progress(done, STEPS.length)}
      </p>
      <ol class="steps">
        {STEPS.map((step) => {
          const isDone = first[step] !== null;
          const happened = told[step];
          return (
            <li key={step} class={isDone ? "done" : "open"}>
              <span class="step-mark">{isDone && <Check />}</span>
              <span>
                {steps[step]}
                <span class="visually-hidden">, {isDone ? overview.stepDone : overview.stepOpen}</span>
                <span class="step-hint">
                  {happened !== null ? at(happened) : !isDone && hints[step]}{" "}
                  {!isDone && may(role, "app_settings") && <a href={LINKS[step]}>{links[step]}</a>}
                </span>
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const sum = (days: RewardCounts[], of: (day: RewardCounts) => number) =>
  days.reduce((total, day) => total + of(day), 0);

/** Without data it keeps its place. */
export function RewardTiles({ data, today }: { data: Data | undefined; today: string }) {
  const from = addDays(today, -DAYS);
  const days = data?.days.filter(({ date }) => date >= from) ?? [];
  const { approved, pending, reversed, pendingNote, nowNote } = text.tiles;
  const tiles = [
    { label: approved, value: sum(days, (day) => day.approved), usd: sum(days, (day) => day.approved_micro_usd) },
    // A held reward is pending for the publisher, too.
    { label: pending, value: sum(days, (day) => day.pending + day.held), note: pendingNote },
    { label: reversed, value: sum(days, (day) => day.reversed), usd: sum(days, (day) => day.reversed_micro_usd) },
  ];
  return (
    <>
      <dl class="tiles">
        {tiles.map(({ label, value, usd, note }) => (
          <div class="tile" key={label}>
            <dt>
              {label} <span class="tile-note">{nowNote}</span>
            </dt>
            {data ? (
              <dd>
                <span class="tile-value">{count(value)}</span>
                <span class="tile-change">{note ?? moneyOf(usd ?? 0)}</span>
              </dd>
            ) : (
              <dd>
                <Skeleton class="tile-skeleton" lines={2} />
              </dd>
            )}
          </div>
        ))}
      </dl>
      {data && isBehind(data.behind_ms) && (
        <p class="note" role="status">
          {text.behind(data.behind_ms)}
        </p>
      )}
    </>
  );
}

const ORDER: EndpointHealth["state"][] = ["disabled", "failing", "none", "healthy"];

export function Health({ activity, role }: { activity: CachedView<Data>; role: Role }) {
  const { data, error, reload } = activity;
  return (
    <section class="card" aria-labelledby="health-title">
      <div class="card-head">
        <h2 id="health-title">{text.health.title}</h2>
        <div class="card-tools">
          <a href={REWARDS_PATH}>{text.log}</a>
        </div>
      </div>
      <Stale of={activity} retry={reload} />
      {data ? (
        data.apps.length > 0 ? (
          <Endpoints data={data} role={role} />
        ) : (
          <p class="note card-foot">{text.health.none}</p>
        )
      ) : error ? (
        <Failed error={error} retry={reload} compact />
      ) : (
        <Skeleton class="list-skeleton" lines={2} />
      )}
    </section>
  );
}

type AppHealth = EndpointHealth & { app_id: string };

function Endpoints({ data, role }: { data: Data; role: Role }) {
  const { nameOf } = useAppNames();
  // Those that need somebody come first.
  const rows = data.apps
    .map(({ app_id, endpoint }): AppHealth => ({ app_id, ...endpoint }))
    .sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || other.dead - one.dead);
  const columns: Column<AppHealth>[] = [
    {
      key: "app",
      header: text.health.app,
      cell: ({ app_id }) => {
        const name = <Name>{nameOf(app_id)}</Name>;
        return may(role, "app_settings") ? <a href={appPath(app_id)}>{name}</a> : name;
      },
    },
    {
      key: "state",
      header: text.health.state,
      cell: ({ app_id, state, since }) => (
        <>
          <span>
            <span class={`badge ${state}`}>{text.states[state] ?? state}</span>{" "}
            {since !== null && <span class="note">{text.health.since(since)}</span>}
          </span>
          {text.stateHints[state] && <span class="cell-second wrap">{text.stateHints[state]}</span>}
          {state === "disabled" && may(role, "app_settings") && (
            <span class="cell-second">
              <a href={appPath(app_id)} aria-label={text.health.enableOf(nameOf(app_id))}>
                {text.health.enable}
              </a>
            </span>
          )}
        </>
      ),
    },
    { key: "waiting", header: text.health.waiting, isNumber: true, cell: ({ waiting }) => count(waiting) },
    {
      key: "dead",
      header: text.health.dead,
      isNumber: true,
      cell: (row) =>
        row.dead > 0 ? (
          <>
            <a href={givenUpPath(row.app_id)} aria-label={text.health.seeDead(nameOf(row.app_id), row.dead)}>
              {count(row.dead)}
            </a>
            {/* Also those that are older than the log. */}
            {may(role, "replay") && (
              <span class="cell-second">
                <a
                  href={givenUpPath(row.app_id) + REPLAY_HASH}
                  aria-label={text.health.sendDeadAgain(nameOf(row.app_id))}
                >
                  {text.health.sendAgain}
                </a>
              </span>
            )}
          </>
        ) : (
          common.none
        ),
    },
  ];
  return <Table stacks name={text.health.title} columns={columns} rows={rows} rowKey={({ app_id }) => app_id} />;
}
