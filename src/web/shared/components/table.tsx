// A table of data: sortable headers, a first column that stays, totals on top, and a region that scrolls sideways.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { table as text } from "../messages";
import { ArrowDown, ArrowUp, Sortable } from "./icons";
import { Skeleton } from "./states";

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

export const column = <Row,>(
  key: string,
  header: ComponentChildren,
  cell: (row: Row) => ComponentChildren,
  more?: Pick<Column<Row>, "total" | "sortable" | "isNumber">,
): Column<Row> => ({ key, header, cell, ...more });

export const numberColumn: typeof column = (key, header, cell, more) =>
  column(key, header, cell, { isNumber: true, ...more });

export interface Sorting {
  column: string;
  ascending: boolean;
  onSort: (column: string) => void;
}

export interface TableProps<Row> {
  name: string;
  columns: Column<Row>[];
  rows: Row[];
  /** The field that identifies a row, or a function that makes a key. It may use the index if two rows may be equal. */
  rowKey: (keyof Row & string) | ((row: Row, index: number) => string | number);
  sorting?: Sorting;
  hasTotals?: boolean;
  isBusy?: boolean;
  /** Unless false, a narrow screen shows the values of each row below the row's name, and nothing scrolls sideways. */
  stacks?: boolean;
  class?: string;
}

/** Tells how a table overflows its region. Only a region that scrolls needs a place in the tab order. */
function useOverflow() {
  const element = useRef<HTMLDivElement>(null);
  const [state, setState] = useState("");
  const measure = () => {
    // The observer may report once more after the table was removed.
    if (!element.current) return;
    const { clientWidth, clientHeight, scrollLeft, firstElementChild } = element.current;
    const { offsetWidth, offsetHeight } = firstElementChild as HTMLElement;
    const isCut = offsetWidth - scrollLeft > clientWidth + 1;
    if (offsetWidth > clientWidth) setState(isCut ? "overflows wide cut" : "overflows wide");
    else setState(offsetHeight > clientHeight ? "overflows" : "");
  };
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(element.current!);
    observer.observe(element.current!.firstElementChild!);
    return () => observer.disconnect();
  }, []);
  return { element, state, measure };
}

// A browser drops a table's roles when CSS draws its rows as blocks, so the elements name their roles.
export function Table<Row>(props: TableProps<Row>) {
  const { name, columns, rows, rowKey, sorting, hasTotals, isBusy, stacks = true, class: extra = "" } = props;
  const { element, state, measure } = useOverflow();
  const keyOf = typeof rowKey === "function" ? rowKey : (row: Row) => String(row[rowKey]);
  return (
    <div
      class={`table-region ${stacks ? "stacks" : ""} ${state} ${extra}`}
      ref={element}
      onScroll={measure}
      role={state ? "region" : undefined}
      aria-label={state ? text.scroll(name) : undefined}
      tabIndex={state ? 0 : undefined}
    >
      <table role="table" aria-label={name} aria-busy={isBusy || undefined}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Header key={column.key} column={column} sorting={sorting} />
            ))}
          </tr>
        </thead>
        {hasTotals && (
          <tbody class="totals" role="rowgroup">
            <Cells columns={columns} of={({ total }) => total} />
          </tbody>
        )}
        <tbody role="rowgroup">
          {rows.map((row, index) => (
            <Cells key={keyOf(row, index)} columns={columns} of={({ cell }) => cell(row)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellsProps<Row> {
  columns: Column<Row>[];
  of: (column: Column<Row>) => ComponentChildren;
}

/** A row of values or of totals. */
const Cells = <Row,>({ columns: [first, ...others], of }: CellsProps<Row>) => (
  <tr role="row">
    <th scope="row" role="rowheader">
      {first && of(first)}
    </th>
    {others.map((column) => (
      <td
        key={column.key}
        role="cell"
        class={column.isNumber ? "number" : undefined}
        data-label={!column.isHeaderHidden && typeof column.header === "string" ? column.header : undefined}
      >
        {of(column)}
      </td>
    ))}
  </tr>
);

/** A table, or a line in its place if it has no rows. */
export const TableOr = <Row,>({ none, ...table }: TableProps<Row> & { none: ComponentChildren }) =>
  table.rows.length > 0 ? <Table {...table} /> : <p class="card-foot">{none}</p>;

export const CardTable = <Row,>(table: TableProps<Row>) => (
  <div class="card table-card">
    <Table {...table} />
  </div>
);

/** The column whose header was pressed last. If the load replaces the table, the new header takes the focus. */
let sorted = "";

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
      <button
        type="button"
        class="sort"
        ref={(button) => {
          if (sorted !== column.key || !button) return;
          sorted = "";
          if (document.activeElement === document.body) button.focus();
        }}
        onClick={() => {
          sorting.onSort(column.key);
          sorted = column.key;
        }}
      >
        {column.header}
        {isSorted ? sorting.ascending ? <ArrowUp /> : <ArrowDown /> : <Sortable />}
      </button>
    </th>
  );
}

/** Rows of grey lines with the table's own row height. */
export const TableSkeleton = ({ rows }: { rows: number }) => <Skeleton class="table-region rows" lines={rows} />;

/** Grey lines in the place of a table in a card. */
export const CardSkeleton = ({ rows }: { rows: number }) => (
  <div class="card">
    <TableSkeleton rows={rows} />
  </div>
);
