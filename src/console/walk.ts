// Lists of which some rows are wanted: pages are asked for until there are enough, or none is left.

import { useState } from "preact/hooks";
import { useAction } from "../pages/action";
import { type Cached, useCached } from "../pages/cache";

export interface RowPage<Row> {
  rows: Row[];
  cursor: string | null;
}

interface Walked<Row> extends RowPage<Row> {
  /** How many rows were looked at, wanted or not. */
  seen: number;
}

export interface Walk<Row> {
  first: Cached<Walked<Row>> & { reload: () => Promise<void> };
  rows: Row[] | undefined;
  seen: number;
  hasMore: boolean;
  more: { isRunning: boolean; error: unknown; run: () => Promise<void> };
  reload: () => Promise<void>;
}

const ENOUGH_ROWS = 50;
const everything = () => true;
// A page of 1,000 takes the catalog some milliseconds; without a row that is wanted the walk goes on.
const MOST_PAGES = 5;

type Load<Row> = (cursor: string | null) => Promise<RowPage<Row>>;

/** Asks from `cursor` on. A page without rows is never the last one that is shown while there is a further one. */
export async function walk<Row>(
  load: Load<Row>,
  isWanted: (row: Row) => boolean,
  cursor: string | null,
): Promise<Walked<Row>> {
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
    const isEnough = rows.length >= enough || (rows.length > 0 && pages >= MOST_PAGES);
    if (next === null || isEnough) return { rows, cursor: next, seen };
  }
}

/** The list by its key. A view with another key is drawn anew. */
export function useWalk<Row>(key: string, load: Load<Row>, isWanted: (row: Row) => boolean = everything): Walk<Row> {
  const first = useCached(key, () => walk(load, isWanted, null));
  // Further pages hold on to the first page that they continue.
  const [kept, setKept] = useState<Walked<Row> | null>(null);
  const shown = kept ?? first.data;
  const more = useAction(async () => {
    const next = await walk(load, isWanted, shown!.cursor);
    setKept({ rows: [...shown!.rows, ...next.rows], cursor: next.cursor, seen: shown!.seen + next.seen });
  });
  return {
    first,
    rows: shown?.rows,
    seen: shown?.seen ?? 0,
    hasMore: shown !== undefined && shown.cursor !== null,
    more,
    reload: async () => {
      await first.reload();
      setKept(null);
    },
  };
}
