// Stands in the place of a list until its first page is there.

import type { Pages } from "../use-pages";
import { Failed } from "./states";
import { TableSkeleton } from "./table";

interface Props<Row> {
  of: Pages<Row>;
  /** How many the skeleton shows. */
  rows: number;
}

export const FirstPage = <Row,>({ of: { first, reload }, rows }: Props<Row>) =>
  first.error ? (
    <Failed error={first.error} retry={reload} />
  ) : (
    <div class="card">
      <TableSkeleton rows={rows} />
    </div>
  );
