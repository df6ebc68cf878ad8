// Facts with their names.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Name } from "./name";

export type Fact = [name: string, value: ComponentChildren];

/** Facts that there are; what is absent is left out. Text of others keeps its signs of direction to itself. */
export const FactList = ({ facts, class: name = "" }: { facts: Fact[]; class?: string }) => (
  <dl class={`facts ${name}`}>
    {facts
      .filter(([, value]) => value || value === 0)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? <Name>{value}</Name> : value}</dd>
        </div>
      ))}
  </dl>
);

export function Facts({ title, facts }: { title: string; facts: Fact[] }) {
  const id = useId();
  return (
    <section class="card padded" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <FactList facts={facts} />
    </section>
  );
}
