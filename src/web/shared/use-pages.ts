// A list that comes in pages: the first is kept in the cache, the others are loaded when they are asked for.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Action, useAction } from "./action";
import { type CachedView, useCached } from "./cache";
import type { ListPage } from "./page-of";

export interface Pages<Row, More = object> {
  /** The first page with what else came with it. */
  first: CachedView<ListPage<Row> & More>;
  /** All that is loaded, or undefined before the first page is there. */
  rows: Row[] | undefined;
  /** These rows as an answer. */
  list: CachedView<Row[]>;
  hasMore: boolean;
  isOnlyFirst: boolean;
  more: Action<[]>;
  /** Starts again with the first page. */
  reload: () => Promise<void>;
}

type Load<Row, More> = (cursor: string | null) => Promise<ListPage<Row> & More>;

/**
 * The list by its key; with `null` nothing is asked yet. With `More` the pages have something beside their rows, which is
 * read of the first.
 */
export function usePages<Row, More = object>(key: string | null, load: Load<Row, More>): Pages<Row, More> {
  const first = useCached(key, () => load(null));
  // Further pages hold on to the first page that they continue, so that a refresh leaves no gap between them.
  const [kept, setKept] = useState<(ListPage<Row> & { key: string | null }) | null>(null);
  const current = useRef(key);
  current.current = key;
  const longer = kept?.key === key ? kept : null;
  const shown = longer ?? first.data;
  const more = useAction(async () => {
    if (!shown?.cursor) return;
    try {
      const next = await load(shown.cursor);
      const rows = [...shown.rows, ...next.rows];
      if (current.current === key) setKept({ key, rows, cursor: next.cursor });
    } catch (error) {
      // It is no error of the list that is shown by now.
      if (current.current === key) throw error;
    }
  });
  useEffect(() => {
    if (more.error) more.clear();
  }, [key]);
  const reload = async () => {
    await first.reload();
    setKept(null);
  };
  return {
    first,
    rows: shown?.rows,
    list: { ...first, data: shown?.rows, reload },
    hasMore: shown !== undefined && shown.cursor !== null,
    isOnlyFirst: longer === null,
    more,
    reload,
  };
}
