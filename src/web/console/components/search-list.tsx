// The parts of a list that can be searched: its form, its foot, and the text for no matches.

import type { ComponentChildren } from "preact";
import { Button } from "../../shared/components/button";
import { More } from "../../shared/components/more";
import { Empty, SaidNote } from "../../shared/components/states";
import type { Pages } from "../../shared/use-pages";

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
