// A table of data: sortable headers, a first column that stays, totals on top, and a region that scrolls sideways.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { table as text } from "../messages";
import { ArrowDown, ArrowUp, Sortable } from "./icons";

export interface Column<Row> {
  key: string;
  header: ComponentChildren;
  cell: (row: Row) => ComponentChildren;
  total?: ComponentChildren;
  isNumber?: boolean;
  /** The header is only read aloud: for a column of buttons. */
  isHeaderHidden?: boolean;
  sortable?: boolean;
}

/** A column that has no more than its name and what stands in its cells. */
export const column = <Row,>(
  key: string,
  header: ComponentChildren,
  cell: (row: Row) => ComponentChildren,
): Column<Row> => ({ key, header, cell });

/** The same, of numbers. */
export const numberColumn: typeof column = (...of) => ({ ...column(...of), isNumber: true });

interface Sorting {
  column: string;
  ascending: boolean;
  onSort: (column: string) => void;
}

export interface TableProps<Row> {
  name: string;
  columns: Column<Row>[];
  rows: Row[];
  /** The field that tells rows apart, or how to make a key; by its place where two rows may be the same. */
  rowKey: (keyof Row & string) | ((row: Row, index: number) => string | number);
  sorting?: Sorting;
  hasTotals?: boolean;
  isBusy?: boolean;
  /** On a narrow screen each row becomes a list of names and values instead of scrolling sideways. */
  stacks?: boolean;
  class?: string;
}

/** Whether an element's content is larger than the element. Only then does it need a place in the tab order. */
function useOverflow() {
  const element = useRef<HTMLDivElement>(null);
  const [overflows, setOverflows] = useState(false);
  useEffect(() => {
    const region = element.current!;
    const measure = () =>
      setOverflows(region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(region);
    if (region.firstElementChild) observer.observe(region.firstElementChild);
    return () => observer.disconnect();
  }, []);
  return { element, overflows };
}

export function Table<Row>(props: TableProps<Row>) {
  const { name, columns, rows, rowKey, sorting, hasTotals, isBusy, stacks, class: extra = "" } = props;
  const { element, overflows } = useOverflow();
  const keyOf = typeof rowKey === "function" ? rowKey : (row: Row) => String(row[rowKey]);
  // A browser forgets a table's roles when its rows are drawn as blocks, so they are written out.
  const role = (name: "table" | "rowgroup" | "row" | "rowheader" | "cell") => (stacks ? name : undefined);
  return (
    <div
      class={`table-region ${stacks ? "stacks" : ""} ${overflows ? "overflows" : ""} ${extra}`}
      ref={element}
      role={overflows ? "region" : undefined}
      aria-label={overflows ? text.scroll(name) : undefined}
      tabIndex={overflows ? 0 : undefined}
    >
      <table role={role("table")} aria-label={name} aria-busy={isBusy || undefined}>
        <thead role={role("rowgroup")}>
          <tr role={role("row")}>
            {columns.map((column) => (
              <Header key={column.key} column={column} sorting={sorting} />
            ))}
          </tr>
        </thead>
        {hasTotals && (
          <tbody class="totals">
            <tr>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th scope="row" key={column.key}>
                    {column.total}
                  </th>
                ) : (
                  <td key={column.key} class={column.isNumber ? "number" : undefined}>
                    {column.total}
                  </td>
                ),
              )}
            </tr>
          </tbody>
        )}
        <tbody role={role("rowgroup")}>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)} role={role("row")}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th scope="row" key={column.key} role={role("rowheader")}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td
                    key={column.key}
                    role={role("cell")}
                    class={column.isNumber ? "number" : undefined}
                    data-label={
                      stacks && !column.isHeaderHidden && typeof column.header === "string" ? column.header : undefined
                    }
                  >
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A table, or a line in its place where it has no rows. */
export const TableOr = <Row,>({ none, ...table }: TableProps<Row> & { none: ComponentChildren }) =>
  table.rows.length > 0 ? <Table stacks {...table} /> : <p class="card-foot">{none}</p>;

export const CardTable = <Row,>(table: TableProps<Row>) => (
  <div class="card table-card">
    <Table stacks {...table} />
  </div>
);

function Header<Row>({ column, sorting }: { column: Column<Row>; sorting?: Sorting }) {
  const name = column.isNumber ? "number" : undefined;
  if (!sorting || !column.sortable) {
    return (
      <th scope="col" class={name}>
        {column.isHeaderHidden ? <span class="visually-hidden">{column.header}</span> : column.header}
      </th>
    );
  }
  const isSorted = sorting.column === column.key;
  const direction = sorting.ascending ? "ascending" : "descending";
  return (
    <th scope="col" class={name} aria-sort={isSorted ? direction : undefined}>
      <button type="button" class="sort" onClick={() => sorting.onSort(column.key)}>
        {column.header}
        {isSorted ? sorting.ascending ? <ArrowUp /> : <ArrowDown /> : <Sortable />}
      </button>
    </th>
  );
}

/** Rows of grey lines with the table's own row height. */
export function TableSkeleton({ rows }: { rows: number }) {
  return (
    <div class="table-region skeleton rows" aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  );
}

/** Grey lines in the place of a table in a card. */
export const CardSkeleton = ({ rows }: { rows: number }) => (
  <div class="card">
    <TableSkeleton rows={rows} />
  </div>
);
