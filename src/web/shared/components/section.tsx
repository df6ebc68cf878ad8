// A card with a title, and content next to the title.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  title: ComponentChildren;
  /** Placed next to the title. */
  beside?: ComponentChildren;
  /** Placed at the end of the title's line. */
  tools?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

export function Section({ title, beside, tools, class: name = "card", children }: Props) {
  const id = useId();
  return (
    <section class={name} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {beside}
        {tools && <div class="card-tools">{tools}</div>}
      </div>
      {children}
    </section>
  );
}
