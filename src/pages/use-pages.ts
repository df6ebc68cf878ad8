// A list that comes in pages: the first is kept in the cache, the others are loaded when they are asked for.

import { useEffect, useState } from "preact/hooks";
import { type Action, useAction } from "./action";
import { type CachedView, useCached } from "./cache";

export interface ListPage<Row> {
  rows: Row[];
  cursor: string | null;
}

export interface Pages<Row, More> {
  /** The first page with what else came with it. */
  first: CachedView<ListPage<Row> & More>;
  /** All that is loaded, or undefined before the first page is there. */
  rows: Row[] | undefined;
  cursor: string | null;
  isOnlyFirst: boolean;
  more: Action<[]>;
}

type Load<Row, More> = (cursor: string | null) => Promise<ListPage<Row> & More>;

/** Goes on while a page is empty and has a cursor, so that none is shown like this. */
async function loadFull<Row, More>(load: Load<Row, More>, from: string | null) {
  let page = await load(from);
  while (page.rows.length === 0 && page.cursor !== null) page = await load(page.cursor);
  return page;
}

/** With `More` the pages have something beside their rows, which is read of the first. */
export function usePages<Row, More = object>(key: string, load: Load<Row, More>): Pages<Row, More> {
  const first = useCached(key, () => loadFull(load, null));
  const [further, setFurther] = useState<ListPage<Row> | null>(null);
  useEffect(() => setFurther(null), [key]);
  const cursor = further ? further.cursor : (first.data?.cursor ?? null);
  const more = useAction(async () => {
    if (cursor === null) return;
    const next = await loadFull(load, cursor);
    setFurther({ rows: [...(further?.rows ?? []), ...next.rows], cursor: next.cursor });
  });
  const rows = first.data && [...first.data.rows, ...(further?.rows ?? [])];
  return { first, rows, cursor, isOnlyFirst: further === null, more };
}
