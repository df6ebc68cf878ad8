// A publisher's figures, the callbacks that need attention, and its apps.

import { isBehind } from "../../../shared/behind";
import { type CachedView, useCached } from "../../../shared/cache";
import { Section } from "../../../shared/components/section";
import { Failed, SaidNote, Stale } from "../../../shared/components/states";
import { Table } from "../../../shared/components/table";
import { Tile } from "../../../shared/components/tile";
import { count, moneyOf } from "../../../shared/format";
import { type AppCallback, callbackColumns, callbacksOf, sumsOf } from "../../../shared/rewards/activity";
import type { KeptPublisher } from "../../../shared/generated/openapi";
import { get } from "../../api";
import { AppLink } from "../../components/links";
import { STATE_NAMES } from "../../messages";
import { endpoints, figures as text } from "../../messages/publishers";
import { today } from "../../session";
import type { Activity } from "../../types";
import { Apps, useApps } from "./apps";
import { activityKey } from "../cache-keys";

export function Overview({ publisher: { publisher_id: id } }: { publisher: KeptPublisher }) {
  const activity = useCached(activityKey(id), () => get("/publishers/{publisher_id}/activity", { publisher_id: id }));
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
      {data && isBehind(data.behind_ms) && <SaidNote>{text.behind(data.behind_ms)}</SaidNote>}
      {data && <Endpoints data={data} nameOf={nameOf} />}
    </>
  );
}

const NAMES = { ...STATE_NAMES, held: text.held };

/** Without data, the tiles keep their place. */
function Tiles({ data }: { data: Activity | undefined }) {
  const sum = sumsOf(data, today());
  const tiles = [
    { of: "approved", below: moneyOf(sum((day) => day.approved_micro_usd)) },
    { of: "pending", below: text.pendingNote },
    { of: "held", below: text.heldNote },
    { of: "reversed", below: moneyOf(sum((day) => day.reversed_micro_usd)) },
    { of: "rejected", below: text.rejectedNote },
    { of: "refused", below: text.refusedNote },
  ] as const;
  return (
    <section aria-labelledby="rewards-title">
      <h2 id="rewards-title" class="figures-title">
        {text.title} <span class="note">{text.note}</span>
      </h2>
      <dl class="tiles even">
        {tiles.map(({ of, below }) => (
          <Tile key={of} label={NAMES[of]} value={data && count(sum((day) => day[of]))} below={below} />
        ))}
      </dl>
    </section>
  );
}

const needsSomebody = ({ state, dead, waiting }: AppCallback) =>
  state === "disabled" || state === "failing" || dead > 0 || (state === "none" && waiting > 0);

function Endpoints({ data, nameOf }: { data: Activity; nameOf: NameOf }) {
  const rows = callbacksOf(data).filter(needsSomebody);
  if (rows.length === 0) return <p class="note">{data.apps.length === 0 ? endpoints.none : endpoints.well}</p>;
  const app = (appId: string) => <AppLink id={appId} name={nameOf(appId)} />;
  return (
    <Section title={endpoints.title}>
      <Table
        name={endpoints.title}
        columns={callbackColumns({ app, hints: endpoints.hints })}
        rows={rows}
        rowKey="app_id"
      />
    </Section>
  );
}
