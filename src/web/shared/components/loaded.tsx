// An answer in its view, and the states before it is there.

import type { ComponentChildren } from "preact";
import type { CachedView } from "../cache";
import { Failed, Skeleton, Stale } from "./states";
import { CardSkeleton, CardTable, type TableProps } from "./table";

interface Props<Data> {
  of: CachedView<Data>;
  /** Stands in its place while it is asked for. */
  loading?: ComponentChildren;
  /** Stands in its place where there is nothing of the name that is asked for. */
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
  /** Stands in the place of a list without rows. */
  empty: ComponentChildren;
  missing?: ComponentChildren;
  isCompact?: boolean;
  /** Stands below the rows. */
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
