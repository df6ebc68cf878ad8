// What instances and outboxes reported: what went wrong in the code's instances, and rewards that saved clicks may explain.

import type { ComponentChildren } from "preact";
import type { CachedView } from "../../../pages/cache";
import { Name } from "../../../pages/components/name";
import { type Column, Table } from "../../../pages/components/table";
import { count, dateText } from "../../../pages/format";
import { useAppNames } from "../../app-names";
import { reconcile, shareText } from "../../messages/reconcile";
import { service as text } from "../../messages/service";
import { appPath } from "../../router";
import type { Reported, ReportedFigure, Service } from "../../types/service";
import { Meter } from "./meter";
import { Section } from "./section";

const MOST_MEMORY = 128 * 1_048_576;

interface Props {
  title: string;
  note: string;
  of: CachedView<Service>;
  children: (reported: Reported) => ComponentChildren;
}

const ReportedSection = ({ children, ...props }: Props) => (
  <Section {...props}>
    {({ reported }) => (reported ? children(reported) : <p class="card-foot failed-text">{text.reported.down}</p>)}
  </Section>
);

export function Instances({ service }: { service: CachedView<Service> }) {
  const { title, note, none } = text.instances;
  return (
    <ReportedSection title={title} note={note} of={service}>
      {({ isolates }) => {
        const figures = isolates.filter(({ figure }) => figure !== "shed");
        if (figures.length === 0) return <p class="card-foot">{none}</p>;
        return (
          <dl class="facts wide-names">
            {figures.map((figure) => (
              <Figure key={figure.figure} {...figure} />
            ))}
          </dl>
        );
      }}
    </ReportedSection>
  );
}

function Figure({ figure, number, isolates, last_ms: last }: ReportedFigure) {
  const { names, hints, of128 } = text.instances;
  if (figure === "shed") return null;
  return (
    <div>
      <dt>{names[figure]}</dt>
      <dd>
        {figure === "memory_bytes" ? (
          <Meter label={names[figure]} value={number} most={MOST_MEMORY} text={of128(number)} />
        ) : (
          <span class="failed-text">{count(number)}</span>
        )}
        <span class="cell-second">{text.reported.by(isolates, last)}</span>
        <span class="note">{hints[figure]}</span>
      </dd>
    </div>
  );
}

type AppRewards = Reported["rewards"]["apps"][number];

export function OldRewards({ service }: { service: CachedView<Service> }) {
  const { title, note } = text.rewards;
  const { nameOf } = useAppNames(service.data?.reported?.rewards.apps.map(({ app_id }) => app_id));
  return (
    <ReportedSection title={title} note={note} of={service}>
      {({ rewards }) => (
        <>
          <p class="card-foot">{reconcile.rewards(rewards)}</p>
          {rewards.apps.length > 0 && (
            <Table
              stacks
              name={title}
              columns={rewardColumns(nameOf)}
              rows={rewards.apps}
              rowKey={({ app_id }) => app_id}
            />
          )}
        </>
      )}
    </ReportedSection>
  );
}

/** An app leads to the comparison of its day. */
const rewardColumns = (nameOf: (appId: string) => string): Column<AppRewards>[] => [
  {
    key: "app",
    header: text.rewards.app,
    cell: ({ app_id: app, date }) => (
      <>
        <a href={`${appPath(app)}?date=${date}`}>
          <Name>{nameOf(app)}</Name>
        </a>
        <span class="cell-second">{dateText(date)}</span>
      </>
    ),
  },
  { key: "rewards", header: text.rewards.rewards, isNumber: true, cell: ({ rewards }) => count(rewards) },
  {
    key: "late",
    header: text.rewards.late,
    isNumber: true,
    cell: ({ rewards, rewards_after_24_h: late }) => shareText(late, rewards),
  },
  {
    key: "old",
    header: text.rewards.old,
    isNumber: true,
    cell: ({ rewards, rewards_by_superseded_terms: old }) => shareText(old, rewards),
  },
];
