// Metrics from instances and outboxes: faults, failed checks and memory; and rewards that show whether somebody saves
// up clicks before a payout drops.

import type { ComponentChildren } from "preact";
import type { CachedView } from "../../../shared/cache";
import { Name } from "../../../shared/components/name";
import { type Column, column, numberColumn, Table } from "../../../shared/components/table";
import { count, dateText } from "../../../shared/format";
import type { Reported, ServiceState } from "../../../shared/generated/openapi";
import { useAppNames } from "../../app-names";
import { reconcile, shareText } from "../../messages/reconcile";
import { service as text } from "../../messages/service";
import { appPath } from "../../router";
import { Meter } from "./meter";
import { Section } from "./section";

const MAX_MEMORY = 128 * 1_048_576;

interface Props {
  title: string;
  note: string | undefined;
  of: CachedView<ServiceState>;
  children: (reported: Reported) => ComponentChildren;
}

const ReportedSection = ({ children, ...props }: Props) => (
  <Section {...props}>
    {({ reported }) => (reported ? children(reported) : <p class="card-foot failed-text">{text.reported.down}</p>)}
  </Section>
);

export function Instances({ service }: { service: CachedView<ServiceState> }) {
  const { title, note, none } = text.instances;
  return (
    <ReportedSection title={title} note={note} of={service}>
      {({ isolates }) => {
        const figures = isolates.filter(({ figure }) => figure !== "shed");
        if (figures.length === 0) return <p class="card-foot">{none}</p>;
        return (
          <dl class="facts wide-names">
            {figures.map((figure) => (
              <Figure key={`${figure.figure} ${figure.kind}`} {...figure} />
            ))}
          </dl>
        );
      }}
    </ReportedSection>
  );
}

function Figure({ figure, kind, number, isolates, last_ms: last }: Reported["isolates"][number]) {
  const { names, kinds, hints, of128, age } = text.instances;
  if (figure === "shed") return null;
  return (
    <div>
      <dt>{names[figure]}</dt>
      <dd>
        {figure === "memory_bytes" ? (
          <Meter label={names[figure]} value={number} most={MAX_MEMORY} text={of128(number)} />
        ) : (
          <span class="failed-text">{figure === "snapshot_age_s" ? age(number) : count(number)}</span>
        )}
        <span class="cell-second">{text.reported.by(isolates, last)}</span>
        <span class="note">{kind ? (kinds[kind] ?? <code>{kind}</code>) : hints[figure]}</span>
      </dd>
    </div>
  );
}

type AppRewards = Reported["rewards"]["apps"][number];

export function OldRewards({ service }: { service: CachedView<ServiceState> }) {
  const { title, note } = text.rewards;
  const rewards = service.data?.reported?.rewards;
  const { nameOf } = useAppNames(rewards?.apps.map(({ app_id }) => app_id));
  return (
    <ReportedSection title={title} note={rewards && note(dateText(rewards.date))} of={service}>
      {({ rewards }) => (
        <>
          <p class="card-foot">{reconcile.rewards(rewards)}</p>
          {rewards.apps.length > 0 && (
            <Table name={title} columns={rewardColumns(nameOf, rewards.date)} rows={rewards.apps} rowKey="app_id" />
          )}
        </>
      )}
    </ReportedSection>
  );
}

/** Each app links to the comparison of its day. */
const rewardColumns = (nameOf: (appId: string) => string, date: string): Column<AppRewards>[] => [
  column("app", text.rewards.app, ({ app_id: app }) => (
    <a href={`${appPath(app)}?date=${date}`}>
      <Name>{nameOf(app)}</Name>
    </a>
  )),
  numberColumn("rewards", text.rewards.rewards, ({ rewards }) => count(rewards)),
  numberColumn("late", text.rewards.late, ({ rewards, rewards_after_24_h: late }) => shareText(late, rewards)),
  numberColumn("old", text.rewards.old, ({ rewards, rewards_by_superseded_terms: old }) => shareText(old, rewards)),
];
