// A part of the page with its own answer, which may arrive later than the others or fail alone.

import type { ComponentChildren } from "preact";
import type { CachedView } from "../../../shared/cache";
import { Loaded } from "../../../shared/components/loaded";
import { Section as Card } from "../../../shared/components/section";
import { Skeleton } from "../../../shared/components/states";

interface Props<Data> {
  title: string;
  note?: ComponentChildren;
  tools?: ComponentChildren;
  of: CachedView<Data>;
  lines?: number;
  children: (data: Data) => ComponentChildren;
}

export const Section = <Data,>({ title, note, tools, of, lines = 3, children }: Props<Data>) => (
  <Card title={title} tools={tools}>
    {note && <p class="note card-foot">{note}</p>}
    <Loaded of={of} loading={<Skeleton class="list-skeleton" lines={lines} />} isCompact>
      {children}
    </Loaded>
  </Card>
);
