// Rows of a list that are ticked, for an action on all of them.

import { useState } from "preact/hooks";
import type { Column } from "../../shared/components/table";

export interface Ticks<Row> {
  /** Null for a row that cannot be ticked. */
  keyOf: (row: Row) => string | null;
  label: (row: Row) => string;
  ticked: ReadonlySet<string>;
  tick: (key: string) => void;
  set: (ticked: ReadonlySet<string>) => void;
}

export function useTicks<Row>(keyOf: Ticks<Row>["keyOf"], label: Ticks<Row>["label"]): Ticks<Row> {
  const [ticked, set] = useState<ReadonlySet<string>>(new Set());
  const tick = (key: string) => {
    const next = new Set(ticked);
    if (!next.delete(key)) next.add(key);
    set(next);
  };
  return { keyOf, label, ticked, tick, set };
}

/** The column with a checkbox before the content of each cell. */
export const tickable = <Row,>(column: Column<Row>, { keyOf, label, ticked, tick }: Ticks<Row>): Column<Row> => ({
  ...column,
  cell: (row) => {
    const key = keyOf(row);
    return (
      <>
        {key !== null && (
          <input
            type="checkbox"
            class="tick"
            aria-label={label(row)}
            checked={ticked.has(key)}
            onChange={() => tick(key)}
          />
        )}
        {column.cell(row)}
      </>
    );
  },
});
