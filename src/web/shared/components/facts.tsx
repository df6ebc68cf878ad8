// Facts with their names.

import type { ComponentChildren } from "preact";
import { Name } from "./name";
import { Section } from "./section";

export type Fact = [name: string, value: ComponentChildren];

/** A list of facts without the absent ones. Direction marks in foreign text do not affect the text next to it. */
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

export const Facts = ({ title, facts }: { title: string; facts: Fact[] }) => (
  <Section title={title}>
    <FactList facts={facts} />
  </Section>
);
