// Moves between the pages of a result, and shows which of its rows are on the page.

import { pager as text } from "../messages";
import { Button } from "./button";
import { Options } from "./field";
import { ChevronLeft, ChevronRight } from "./icons";

interface Props {
  page: number;
  size: number;
  total: number;
  sizes: number[];
  onPage: (page: number) => void;
  onSize: (size: number) => void;
}

export function Pager({ page, size, total, sizes, onPage, onSize }: Props) {
  const pages = Math.max(1, Math.ceil(total / size));
  const first = Math.min((page - 1) * size + 1, total);
  const last = Math.min(page * size, total);
  return (
    <nav class="pager" aria-label={text.label}>
      <label>
        <span>{text.rows}</span>
        <select value={String(size)} onChange={(event) => onSize(Number(event.currentTarget.value))}>
          <Options options={sizes.map(String)} nameOf={String} />
        </select>
      </label>
      <span class="pager-range">{text.range(first, last, total)}</span>
      <span class="pager-buttons">
        <Button class="button icon-only" label={text.previous} isDisabled={page <= 1} onClick={() => onPage(page - 1)}>
          <ChevronLeft />
        </Button>
        <Button class="button icon-only" label={text.next} isDisabled={page >= pages} onClick={() => onPage(page + 1)}>
          <ChevronRight />
        </Button>
      </span>
    </nav>
  );
}
