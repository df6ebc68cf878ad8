// A button in each row of a table.

import { Button } from "./button";
import type { Column } from "./table";

interface ButtonProps {
  name: string;
  /** A label that distinguishes it from the buttons of other rows. */
  label: string;
  isDangerous?: boolean;
  onClick: () => void;
}

export const RowButton = ({ name, label, isDangerous, onClick }: ButtonProps) => (
  <Button class={isDangerous ? "button small danger-text" : "button small"} label={label} onClick={onClick}>
    {name}
  </Button>
);

interface ButtonColumn<Row> {
  name: string;
  header?: string;
  labelOf: (row: Row) => string;
  isDangerous?: boolean;
  isShown?: (row: Row) => boolean;
  onClick: (row: Row) => void;
}

export const buttonColumn = <Row,>(column: ButtonColumn<Row>): Column<Row> => ({
  key: "button",
  header: column.header ?? column.name,
  isHeaderHidden: true,
  isNumber: true,
  cell: (row) =>
    (column.isShown?.(row) ?? true) && (
      <RowButton {...column} label={column.labelOf(row)} onClick={() => column.onClick(row)} />
    ),
});
