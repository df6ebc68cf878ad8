// Shows a loaded answer, or the state of its load.

import type { ComponentChildren } from "preact";
import type { CachedView } from "../cache";
import { Failed, Skeleton, Stale } from "./states";
import { CardSkeleton, CardTable, type TableProps } from "./table";

interface Props<Data> {
  of: CachedView<Data>;
  loading?: ComponentChildren;
  /** Shown if nothing with the requested name exists. */
  missing?: ComponentChildren;
  isCompact?: boolean;
  children: (data: Data) => ComponentChildren;
}

export const Loaded = <Data,>({ of, loading = <Skeleton lines={5} />, missing, isCompact, children }: Props<Data>) => (
  <>
    <Stale of={of} retry={of.reload} />
    {of.data ? (
      children(of.data)
    ) : !of.error ? (
      loading
    ) : missing && of.error.status === 404 ? (
      missing
    ) : (
      <Failed error={of.error} retry={of.reload} compact={isCompact} />
    )}
  </>
);

interface ListProps<Row> extends Omit<TableProps<Row>, "rows"> {
  of: CachedView<Row[]>;
  /** How many rows the skeleton shows. */
  lines: number;
  empty: ComponentChildren;
  missing?: ComponentChildren;
  isCompact?: boolean;
  /** Shown below the rows. */
  children?: ComponentChildren;
}

export const LoadedTable = <Row,>({ of, lines, empty, missing, isCompact, children, ...table }: ListProps<Row>) => (
  <Loaded of={of} loading={<CardSkeleton rows={lines} />} {...{ missing, isCompact }}>
    {(rows) =>
      rows.length === 0 ? (
        empty
      ) : (
        <>
          <CardTable {...table} rows={rows} />
          {children}
        </>
      )
    }
  </Loaded>
);
