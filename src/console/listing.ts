// A list that grows page by page. A page may be empty and still not be the last, so the next one is asked for at once.

import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../pages/client";

// Then the person is asked whether to go on, since each page may take the server a second.
const MOST_EMPTY_PAGES = 20;

export interface Page<Row> {
  rows: Row[];
  cursor: string | null;
}

interface State<Row> {
  rows: Row[];
  /** Null before the first page and after the last. */
  cursor: string | null;
  isStarted: boolean;
  isLoading: boolean;
  error: ApiError | null;
}

export interface Listing<Row> extends State<Row> {
  more: () => Promise<void>;
  reload: () => void;
}

const NOTHING = { rows: [], cursor: null, isStarted: false, isLoading: false, error: null };

/** With `null` nothing is asked yet. Another key is another list. */
export function useListing<Row>(
  key: string | null,
  load: (cursor: string | null) => Promise<Page<Row>>,
): Listing<Row> {
  const [state, setState] = useState<State<Row>>(NOTHING);
  const [round, setRound] = useState(0);
  const current = useRef({ run: 0, state });
  const set = (next: State<Row>) => {
    current.current.state = next;
    setState(next);
  };
  const more = async () => {
    const { run, state: before } = current.current;
    if (before.isLoading) return;
    set({ ...before, isLoading: true, error: null });
    let { cursor } = before;
    try {
      for (let empty = 0; empty < MOST_EMPTY_PAGES; empty += 1) {
        const page = await load(cursor);
        if (run !== current.current.run) return;
        cursor = page.cursor;
        if (page.rows.length > 0 || cursor === null) {
          return set({ ...before, rows: [...before.rows, ...page.rows], cursor, isStarted: true, isLoading: false, error: null });
        }
      }
      set({ ...before, cursor, isStarted: true, isLoading: false, error: null });
    } catch (error) {
      if (run === current.current.run) set({ ...before, cursor, isLoading: false, error: error as ApiError });
    }
  };
  useEffect(() => {
    current.current.run += 1;
    set(NOTHING);
    if (key !== null) void more();
    return () => {
      current.current.run += 1;
    };
  }, [key, round]);
  return { ...state, more, reload: () => setRound(round + 1) };
}
