// The numbers of a chart as a table.

import { dateWithWeekday } from "../../../shared/format";
import { chart as text, DIMENSION_NAMES } from "../../messages";
import { type Column, column, numberColumn, Table } from "../../../shared/components/table";
import { valueText } from "./chart";
import type { ChartData } from "./types";

export function ChartTable({ data }: { data: ChartData }) {
  const columns: Column<number>[] = [
    column("date", DIMENSION_NAMES.date, (index) => (
      <span class="no-wrap">
        {dateWithWeekday(data.dates[index]!)}
        {index === data.today && <span class="cell-note">{text.incomplete}</span>}
      </span>
    )),
    ...data.series.map(({ id, label, values }) =>
      numberColumn<number>(id, label, (index) => valueText(values[index] ?? null, data)),
    ),
  ];
  // The newest day first, as in the reports.
  const rows = data.dates.map((_, index) => index).reverse();
  return <Table name={data.title} columns={columns} rows={rows} rowKey={String} stacks={false} class="chart-table" />;
}
