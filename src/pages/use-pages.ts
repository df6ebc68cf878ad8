// A list that comes in pages: the first is kept in the cache, the others are loaded when they are asked for.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Action, useAction } from "./action";
import { type CachedView, useCached } from "./cache";

export interface ListPage<Row> {
  rows: Row[];
  cursor: string | null;
}

interface Walked<Row> extends ListPage<Row> {
  /** How many rows were looked at, wanted or not. */
  seen: number;
}

export interface Pages<Row, More = object> {
  /** The first page with what else came with it. */
  first: CachedView<Walked<Row> & More>;
  /** All that is loaded, or undefined before the first page is there. */
  rows: Row[] | undefined;
  seen: number;
  hasMore: boolean;
  isOnlyFirst: boolean;
  more: Action<[]>;
  /** Starts again with the first page. */
  reload: () => Promise<void>;
}

type Load<Row, More> = (cursor: string | null) => Promise<ListPage<Row> & More>;
type Wanted<Row> = (row: Row) => boolean;

const everything = () => true;
const ENOUGH_ROWS = 50;
// Of a long list that has few wanted rows, a person first sees those few.
const FEW_PAGES = 5;
// Then the person is asked whether to go on, since each page may take the server a second.
const MOST_PAGES = 20;

/** Goes on from `cursor` until there are enough rows. A page without rows need not be the last. */
export async function walk<Row, More = object>(
  load: Load<Row, More>,
  isWanted: Wanted<Row>,
  cursor: string | null,
): Promise<Walked<Row> & More> {
  // Where every row is wanted, a page is as long as was asked for.
  const enough = isWanted === everything ? 1 : ENOUGH_ROWS;
  const rows: Row[] = [];
  let seen = 0;
  let next = cursor;
  for (let pages = 1; ; pages += 1) {
    const page = await load(next);
    seen += page.rows.length;
    rows.push(...page.rows.filter(isWanted));
    next = page.cursor;
    const isEnough = rows.length >= enough || pages >= (rows.length > 0 ? FEW_PAGES : MOST_PAGES);
    if (next === null || isEnough) return { ...page, rows, cursor: next, seen };
  }
}

/**
 * The list by its key; with `null` nothing is asked yet. With `More` the pages have something beside their rows, which is
 * read of the first. Where the server cannot filter, `isWanted` does.
 */
export function usePages<Row, More = object>(
  key: string | null,
  load: Load<Row, More>,
  isWanted: Wanted<Row> = everything,
): Pages<Row, More> {
  const first = useCached(key, () => walk(load, isWanted, null));
  // Further pages hold on to the first page that they continue, so that a refresh leaves no gap between them.
  const [kept, setKept] = useState<(Walked<Row> & { key: string | null }) | null>(null);
  const current = useRef(key);
  current.current = key;
  const longer = kept?.key === key ? kept : null;
  const shown = longer ?? first.data;
  const more = useAction(async () => {
    if (!shown?.cursor) return;
    try {
      const next = await walk(load, isWanted, shown.cursor);
      const rows = [...shown.rows, ...next.rows];
      if (current.current === key) setKept({ key, rows, cursor: next.cursor, seen: shown.seen + next.seen });
    } catch (error) {
      // It is no error of the list that is shown by now.
      if (current.current === key) throw error;
    }
  });
  useEffect(() => {
    if (more.error) more.clear();
  }, [key]);
  return {
    first,
    rows: shown?.rows,
    seen: shown?.seen ?? 0,
    hasMore: shown !== undefined && shown.cursor !== null,
    isOnlyFirst: longer === null,
    more,
    reload: async () => {
      await first.reload();
      setKept(null);
    },
  };
}

/** The rows that match a filter over what is loaded. While none does and there are further pages, those are loaded. */
export function useMatching<Row>({ rows, hasMore, more }: Pages<Row>, matches: Wanted<Row>, filter: string) {
  const shown = rows?.filter(matches);
  const isSearching = shown?.length === 0 && hasMore;
  useEffect(() => {
    if (isSearching && !more.isRunning && !more.error) void more.run();
  }, [isSearching, more.isRunning, filter]);
  return { shown, isSearching };
}
