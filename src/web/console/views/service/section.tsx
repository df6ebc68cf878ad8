// A part of the page with an answer of its own, which may come later than the others or fail alone.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { CachedView } from "../../../shared/cache";
import { Failed, Skeleton, Stale } from "../../../shared/components/states";

interface Props<Data> {
  title: string;
  note?: ComponentChildren;
  tools?: ComponentChildren;
  of: CachedView<Data>;
  lines?: number;
  children: (data: Data) => ComponentChildren;
}

export function Section<Data>({ title, note, tools, of, lines = 3, children }: Props<Data>) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {tools && <div class="card-tools">{tools}</div>}
      </div>
      {note && <p class="note card-foot">{note}</p>}
      <Stale of={of} retry={of.reload} />
      {of.data ? (
        children(of.data)
      ) : of.error ? (
        <Failed error={of.error} retry={of.reload} compact />
      ) : (
        <Skeleton class="list-skeleton" lines={lines} />
      )}
    </section>
  );
}
