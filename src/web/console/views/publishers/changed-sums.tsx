// Clicks and revenue before and after a change, by app.

import { type Column, column, numberColumn, Table } from "../../../shared/components/table";
import { count, exactMoney } from "../../../shared/format";
import type { CountedSums } from "../../../shared/generated/openapi";
import { useAppNames } from "../../app-names";
import { changedSums as text } from "../../messages/publishers";

export interface ChangedSum {
  /** Without it, the sums cover all apps. */
  app_id?: string;
  before: CountedSums;
  after: CountedSums;
}

export function ChangedSums({ rows }: { rows: ChangedSum[] }) {
  const { nameOf } = useAppNames(rows.flatMap(({ app_id: id }) => id ?? []));
  return (
    <div class="dialog-table">
      <Table name={text.table} columns={columns(nameOf)} rows={rows} rowKey={({ app_id: id }) => id ?? ""} />
    </div>
  );
}

const columns = (nameOf: (appId: string) => string): Column<ChangedSum>[] => [
  column("app", text.app, ({ app_id: id }) => (
    <div class="wrap">
      {id ? nameOf(id) : text.all}
      {id && nameOf(id) !== id && <span class="cell-second">{id}</span>}
    </div>
  )),
  numberColumn("clicks-before", text.clicksBefore, ({ before }) => count(before.clicks)),
  numberColumn("clicks-after", text.clicksAfter, ({ after }) => count(after.clicks)),
  numberColumn("revenue-before", text.revenueBefore, ({ before }) => exactMoney(before.revenue)),
  numberColumn("revenue-after", text.revenueAfter, ({ after }) => exactMoney(after.revenue)),
];
