// Rewards of the last 30 days, the health of callbacks, and the checklist until everything has happened once.

import { isBehind } from "../../../shared/behind";
import { Check } from "../../../shared/components/icons";
import { Loaded } from "../../../shared/components/loaded";
import { Name } from "../../../shared/components/name";
import { Section } from "../../../shared/components/section";
import { SaidNote, Skeleton } from "../../../shared/components/states";
import { Table } from "../../../shared/components/table";
import { Tile } from "../../../shared/components/tile";
import { count, moneyOf } from "../../../shared/format";
import { overview } from "../../messages";
import { activity as text } from "../../messages/activity";
import { appPath, APPS_PATH, givenUpPath, REPLAY_HASH, REWARDS_PATH, TEST_HASH } from "../../router";
import { settingsPath } from "../../../shared/account/settings";
import { may, session } from "../../session";
import type { Activity as Data, Firsts } from "../../types";
import { useAppNames } from "../app-names";
import type { CachedView } from "../../../shared/cache";
import { callbackColumns, callbacksOf, sumsOf } from "../../../shared/rewards/activity";

const STEPS: (keyof Firsts)[] = ["list", "click", "conversion", "callback", "report"];
const LINKS: Record<keyof Firsts, string> = {
  list: settingsPath("pub_key"),
  click: APPS_PATH,
  conversion: REWARDS_PATH,
  callback: APPS_PATH,
  report: settingsPath("keys"),
};

export function Checklist({ first: told }: { first: Firsts }) {
  // A later event proves the earlier ones: a conversion needs a click, and a click needs a listed offer.
  const click = told.click ?? told.conversion;
  const first = { ...told, click, list: told.list ?? click };
  const done = STEPS.filter((step) => first[step] !== null).length;
  if (done === STEPS.length) return null;
  const { title, intro, progress, at, steps, hints, links, tryIt, developer, analyst } = text.checklist;
  const mayOpen = may("app_settings");
  return (
    <section class="card padded checklist" aria-labelledby="checklist-title">
      <h2 id="checklist-title">{title}</h2>
      <p class="note">
        {intro} {progress(done, STEPS.length)}
      </p>
      {mayOpen && (
        <p class="note">
          <a href={APPS_PATH + TEST_HASH}>{tryIt}</a>
          <Guide name="app-developer" title={developer} />
        </p>
      )}
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
                  {!isDone && mayOpen && <a href={LINKS[step]}>{links[step]}</a>}
                  {!isDone && step === "report" && <Guide name="analyst" title={analyst} />}
                </span>
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** A link to a guide, if the documentation is served. */
function Guide({ name, title }: { name: string; title: string }) {
  const docs = session.value?.docs_url;
  return (
    docs && (
      <>
        &emsp;
        <a href={`${docs}guides/${name}/`} target="_blank" rel="noreferrer noopener">
          {title}
        </a>
      </>
    )
  );
}

/** Without data, the tiles keep their place. */
export function RewardTiles({ data, today }: { data: Data | undefined; today: string }) {
  const sum = sumsOf(data, today);
  const { approved, pending, reversed, pendingNote, nowNote } = text.tiles;
  const tiles = [
    { label: approved, value: sum((day) => day.approved), below: moneyOf(sum((day) => day.approved_micro_usd)) },
    // To the publisher, a held reward is also pending.
    { label: pending, value: sum((day) => day.pending + day.held), below: pendingNote },
    { label: reversed, value: sum((day) => day.reversed), below: moneyOf(sum((day) => day.reversed_micro_usd)) },
  ];
  return (
    <>
      <dl class="tiles">
        {tiles.map(({ value, ...tile }) => (
          <Tile key={tile.label} {...tile} note={nowNote} value={data && count(value)} />
        ))}
      </dl>
      {data && isBehind(data.behind_ms) && <SaidNote>{text.behind(data.behind_ms)}</SaidNote>}
    </>
  );
}

export function Health({ activity }: { activity: CachedView<Data> }) {
  return (
    <Section title={text.health.title} tools={<a href={REWARDS_PATH}>{text.log}</a>}>
      <Loaded of={activity} loading={<Skeleton class="list-skeleton" lines={2} />} isCompact>
        {(data) =>
          data.apps.length > 0 ? <Endpoints data={data} /> : <p class="note card-foot">{text.health.none}</p>
        }
      </Loaded>
    </Section>
  );
}

function Endpoints({ data }: { data: Data }) {
  const { nameOf } = useAppNames();
  const columns = callbackColumns({
    app: (appId) => {
      const name = <Name>{nameOf(appId)}</Name>;
      return may("app_settings") ? <a href={appPath(appId)}>{name}</a> : name;
    },
    hints: text.stateHints,
    belowState: ({ app_id, state }) =>
      state === "disabled" &&
      may("app_settings") && (
        <span class="cell-second">
          <a href={appPath(app_id)} aria-label={text.health.enableOf(nameOf(app_id))}>
            {text.health.enable}
          </a>
        </span>
      ),
    dead: ({ app_id, dead }) => (
      <>
        <a href={givenUpPath(app_id)} aria-label={text.health.seeDead(nameOf(app_id), dead)}>
          {count(dead)}
        </a>
        {/* This also sends callbacks that are older than the log. */}
        {may("replay_many") && (
          <span class="cell-second">
            <a href={givenUpPath(app_id) + REPLAY_HASH} aria-label={text.health.sendDeadAgain(nameOf(app_id))}>
              {text.health.sendAgain}
            </a>
          </span>
        )}
      </>
    ),
  });
  return <Table name={text.health.title} columns={columns} rows={callbacksOf(data)} rowKey="app_id" />;
}
