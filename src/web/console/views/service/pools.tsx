// Requests that all instances shed under overload, and the work in progress in the instance that answered.

import type { CachedView } from "../../../shared/cache";
import { type Column, column, numberColumn, Table } from "../../../shared/components/table";
import { count } from "../../../shared/format";
import type { Reported, ServiceState } from "../../../shared/generated/openapi";
import { service } from "../../messages/service";
import { Section } from "./section";

const text = service.pools;

interface Work {
  name: string;
  refused: number;
  /** The pool in the instance that answered, which has only the origin's pools. */
  pool: ServiceState["pools"][number] | undefined;
  /** The sum over all instances that reported this figure. */
  shed: Reported["isolates"][number] | undefined;
}

/** Instances report with a delay, so the instance that answered may have shed more than was reported. */
function workOf({ pools, reported }: ServiceState): Work[] {
  const shed = (reported?.isolates ?? []).filter(({ figure }) => figure === "shed");
  const names = new Set([...shed.map(({ kind = "" }) => kind), ...pools.map(({ name }) => name)]);
  return [...names].map((name) => {
    const pool = pools.find((pool) => pool.name === name);
    const all = shed.find(({ kind }) => kind === name);
    return { name, pool, shed: all, refused: Math.max(pool?.refused ?? 0, all?.number ?? 0) };
  });
}

export function Pools({ service: cached }: { service: CachedView<ServiceState> }) {
  const note = `${text.note} ${cached.data?.reported === null ? text.ofOne : text.ofAll}`;
  return (
    <Section title={text.title} note={note} of={cached} lines={5}>
      {(data) => {
        const work = workOf(data);
        const refused = work.reduce((sum, { refused }) => sum + refused, 0);
        return (
          <>
            <p class={refused > 0 ? "card-foot failed-text" : "card-foot"}>
              {refused > 0 ? text.some(refused) : text.none}
            </p>
            {work.length > 0 && <Table name={text.title} columns={columns} rows={work} rowKey="name" stacks={false} />}
          </>
        );
      }}
    </Section>
  );
}

const columns: Column<Work>[] = [
  column("name", text.name, ({ name, shed }) => (
    <>
      {text.names[name] ?? name}
      {shed && <span class="cell-second">{service.reported.by(shed.isolates, shed.last_ms)}</span>}
    </>
  )),
  numberColumn("in_use", text.inUse, ({ pool }) => pool && text.of(pool.in_use, pool.permits)),
  numberColumn("refused", text.refused, ({ refused }) => (
    <span class={refused > 0 ? "failed-text" : undefined}>{count(refused)}</span>
  )),
];
