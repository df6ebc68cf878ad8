// A list in pages: the first page is loaded at once, the others on request.

import { useRef, useState } from "preact/hooks";
import { type Action, useAction } from "./action";
import { type CachedView, memories, peek, put, refresh, useCached } from "./cache";
import { cameBack } from "./navigation";
import type { ListPage } from "./page-of";

export interface Pages<Row, More = object> {
  /** All loaded rows, with the other members of the first page's answer. */
  first: CachedView<ListPage<Row> & More>;
  /** All loaded rows, or undefined before the first page has loaded. */
  rows: Row[] | undefined;
  /** `rows` as an answer. */
  list: CachedView<Row[]>;
  hasMore: boolean;
  isOnlyFirst: boolean;
  more: Action<[]>;
  /** Starts again with the first page. */
  reload: () => Promise<unknown>;
}

type Load<Row, More> = (cursor: string | null) => Promise<ListPage<Row> & More>;

// How many pages each list has loaded. A refresh loads as many, and so does a view that the back button opens.
const depths = new Map<string | null, number>();
memories.add(() => depths.clear());

const joined = <Page extends ListPage<unknown>>(page: Page, next: Page): Page => ({
  ...page,
  rows: [...page.rows, ...next.rows],
  cursor: next.cursor,
});

/**
 * The list by its key; with `null` nothing is loaded yet. With `More`, the pages have other members in addition to
 * their rows. These members are read from the first page.
 */
export function usePages<Row, More = object>(key: string | null, load: Load<Row, More>): Pages<Row, More> {
  useState(() => cameBack() || depths.delete(key));
  const depth = () => depths.get(key) ?? 1;
  const first = useCached(key, async () => {
    let page = await load(null);
    for (let pages = 1; page.cursor && pages < depth(); pages += 1) page = joined(page, await load(page.cursor));
    return page;
  });
  const shown = first.data;
  const asked = useRef(key);
  const more = useAction(async () => {
    asked.current = key;
    if (key === null || !shown?.cursor) return;
    const next = await load(shown.cursor);
    depths.set(key, depth() + 1);
    // A refresh may have ended in the meantime. Its rows are newer, and another page may follow them.
    if (peek(key) === shown) put(key, joined(shown, next));
    else await refresh(key);
  });
  const reload = async () => {
    depths.delete(key);
    return first.reload();
  };
  return {
    first,
    rows: shown?.rows,
    list: { ...first, data: shown?.rows, reload },
    hasMore: shown !== undefined && shown.cursor !== null,
    isOnlyFirst: depth() === 1,
    // Hides errors of a list that is no longer shown.
    more: asked.current === key ? more : { ...more, error: null },
    reload,
  };
}
