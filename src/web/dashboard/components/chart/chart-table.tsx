// The numbers of a chart as a table.

import { dateWithWeekday } from "../../../shared/format";
import { chart as text, DIMENSION_NAMES } from "../../messages";
import { type Column, Table } from "../../../shared/components/table";
import { valueText } from "./chart";
import type { ChartData } from "./types";

export function ChartTable({ data }: { data: ChartData }) {
  const columns: Column<number>[] = [
    {
      key: "date",
      header: DIMENSION_NAMES.date,
      cell: (index) => (
        <span class="no-wrap">
          {dateWithWeekday(data.dates[index]!)}
          {index === data.today && <span class="cell-note">{text.incomplete}</span>}
        </span>
      ),
    },
    ...data.series.map(
      (series): Column<number> => ({
        key: series.id,
        header: series.label,
        isNumber: true,
        cell: (index) => valueText(series.values[index] ?? null, data),
      }),
    ),
  ];
  // The newest day first, as in the reports.
  const rows = data.dates.map((_, index) => index).reverse();
  return <Table name={data.title} columns={columns} rows={rows} rowKey={String} class="chart-table" />;
}
