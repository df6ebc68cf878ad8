// The parts of lists: the search, the order, the foot, and figures that load after the rows.

import type { ComponentChildren } from "preact";
import { Button } from "../../shared/components/button";
import { More } from "../../shared/components/more";
import { Banner, Empty, SaidNote } from "../../shared/components/states";
import type { Sorting } from "../../shared/components/table";
import { oneOf } from "../../shared/query-text";
import type { Pages } from "../../shared/use-pages";
import { common } from "../messages";

export const SearchForm = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <form class="card padded list-filters" role="search" aria-label={name} onSubmit={(event) => event.preventDefault()}>
    {children}
  </form>
);

interface FootProps {
  of: Pick<Pages<unknown>, "hasMore" | "more">;
  /** The number of rows, in words. */
  shown: string;
}

export const ListFoot = ({ of, shown }: FootProps) => (
  <div class="row list-foot">
    <More of={of} />
    <SaidNote>{shown}</SaidNote>
  </div>
);

export const NoMatch = ({ title, clear, onClear }: { title: string; clear: string; onClear: () => void }) => (
  <Empty title={title} action={<Button onClick={onClear}>{clear}</Button>} />
);

/** The order of a list: by id, or by name if the URL says so. */
export type Sort = "" | "name";

export const sortIn = (query: URLSearchParams): Sort => oneOf(query.get("sort") ?? "", ["name"]);

/** Makes the header of this column change the order. */
export const sortingBy = (column: string, sort: Sort, onChange: (sort: Sort) => void): Sorting => ({
  column: sort && column,
  ascending: true,
  onSort: () => onChange(sort ? "" : "name"),
});

/** Replaces a figure that is still loading (undefined) or has failed (null). */
export const NoFigure = ({ answer, title }: { answer: null | undefined; title: string }) => (
  <span class="note" title={answer === null ? title : undefined}>
    {common.none}
  </span>
);

export const FiguresFailed = ({ error, text, retry }: { error: unknown; text: string; retry: () => void }) =>
  error === null ? null : <Banner onClick={retry}>{text}</Banner>;
