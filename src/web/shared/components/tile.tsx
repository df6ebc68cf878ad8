// A number with its name.

import type { ComponentChildren } from "preact";
import { Skeleton } from "./states";

interface Props {
  label: string;
  note?: string;
  /** If it is undefined, the tile keeps its place. */
  value: string | undefined;
  /** Shown below the number. */
  below?: ComponentChildren;
  belowClass?: string;
}

export const Tile = ({ label, note, value, below, belowClass = "" }: Props) => (
  <div class="tile">
    <dt>
      {label} {note && <span class="tile-note">{note}</span>}
    </dt>
    <dd>
      {value === undefined ? (
        <Skeleton class="tile-skeleton" lines={2} />
      ) : (
        <>
          <span class="tile-value">{value}</span>
          {below && <span class={`tile-change ${belowClass}`}>{below}</span>}
        </>
      )}
    </dd>
  </div>
);
