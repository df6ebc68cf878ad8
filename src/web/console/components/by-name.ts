// The order of a list: by id, or by name if the URL says so.

import type { Sorting } from "../../shared/components/table";
import { oneOf } from "../../shared/query-text";

export type Sort = "" | "name";

export const sortIn = (query: URLSearchParams): Sort => oneOf(query.get("sort") ?? "", ["name"]);

/** Makes the header of this column change the order. */
export const sortingBy = (column: string, sort: Sort, onChange: (sort: Sort) => void): Sorting => ({
  column: sort && column,
  ascending: true,
  onSort: () => onChange(sort ? "" : "name"),
});
