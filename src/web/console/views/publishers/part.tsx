// A part of a publisher's page, with its title and its action.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  title: string;
  intro: string;
  action?: ComponentChildren;
  children: ComponentChildren;
}

export function Part({ title, intro, action, children }: Props) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <div class="section-head">
        <div>
          <h2 id={id}>{title}</h2>
          <p class="note">{intro}</p>
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}
