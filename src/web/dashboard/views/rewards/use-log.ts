// The log, live: a page of the newest rewards, then every two seconds the changes since, while the page is visible.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Action, useAction } from "../../../shared/action";
import { memories, returned } from "../../../shared/cache";
import { cameBack } from "../../../shared/navigation";
import { generation } from "../../../shared/session";
import { ApiError, isRefused } from "../../../shared/client";
import { post } from "../../api";
import type { RewardPage, RewardQuery } from "../../types";
import { keyOf, merge } from "./merge";

const POLL_MILLISECONDS = 2000;
const MAX_PAUSE_MILLISECONDS = 30_000;
const PAGE_ROWS = 50;
const CHANGED_ROWS = 200;
// Each row is about 20 elements, so a live log has no more rows. If new rows make it longer, it starts again with its
// first page. If older pages are open, it is paused instead, so that its reader can go on to the last page.
const MAX_ROWS = 1000;

interface State {
  page: RewardPage | null;
  error: ApiError | null;
}

export interface Log extends State {
  isPaused: boolean;
  setPaused: (isPaused: boolean) => void;
  /** True if the log is paused because it has more than `MAX_ROWS` rows. */
  isTooLong: boolean;
  /** Starts again with the newest rewards. */
  restart: () => void;
  reload: () => void;
  older: Action<[]>;
}

/** The log that was open last, for a reader who goes back to it. */
let left: { key: string; page: RewardPage; hasOlder: boolean } | null = null;
memories.add(() => (left = null));

export function useLog(query: RewardQuery | null): Log {
  const [state, setState] = useState<State>({ page: null, error: null });
  const [isPaused, setPaused] = useState(false);
  const [round, setRound] = useState(0);
  const page = useRef<RewardPage | null>(null);
  const hasOlder = useRef(false);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  const key = JSON.stringify(query);
  const show = (next: RewardPage) => {
    page.current = next;
    setState({ page: next, error: null });
  };
  const forget = () => {
    page.current = null;
    hasOlder.current = false;
  };
  const isLong = (shown: RewardPage | null) => shown !== null && shown.rows.length > MAX_ROWS;

  // A layout effect, so that a kept log is drawn before the page scrolls back to its place.
  useLayoutEffect(() => {
    forget();
    const account = generation.peek();
    const isKept = cameBack() && left?.key === key;
    if (isKept) hasOlder.current = left!.hasOlder;
    if (isKept) show(left!.page);
    else setState({ page: null, error: null });
    return () => {
      // The next account sees nothing of this one.
      if (!page.current || account !== generation.peek()) return;
      left = { key, page: page.current, hasOlder: hasOlder.current };
    };
  }, [key]);

  useEffect(() => {
    if (query === null) return;
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout>;
    let failures = 0;
    const next = (after: number) => {
      if (!isCurrent) return;
      clearTimeout(timer);
      timer = setTimeout(() => void poll(), after);
    };
    const poll = async () => {
      const isStill = paused.current || (hasOlder.current && isLong(page.current));
      if (document.hidden || (isStill && page.current)) return next(POLL_MILLISECONDS);
      const shown = page.current;
      try {
        const answer = await post(
          "/rewards",
          {},
          shown ? { ...query, limit: CHANGED_ROWS, after: shown.newest } : { ...query, limit: PAGE_ROWS },
        );
        if (!isCurrent) return;
        failures = 0;
        // In the meantime, older rows may have been added to the page.
        const known = page.current;
        show(shown && known ? merge(known, answer) : answer);
        const startsAgain = !hasOlder.current && isLong(page.current);
        if (startsAgain) forget();
        next(startsAgain || answer.has_more_changes ? 0 : POLL_MILLISECONDS);
      } catch (error) {
        if (!isCurrent || !(error instanceof ApiError)) return;
        setState({ page: page.current, error });
        if (isRefused(error)) return;
        failures += 1;
        const wait = Math.min(MAX_PAUSE_MILLISECONDS, POLL_MILLISECONDS * 2 ** failures);
        next(Math.max(wait, (error.retryAfter ?? 0) * 1000));
      }
    };
    const onSeen = () => !document.hidden && next(0);
    document.addEventListener("visibilitychange", onSeen);
    void poll();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onSeen);
    };
  }, [key, round, returned.value]);

  const older = useAction(async () => {
    const cursor = page.current?.cursor;
    if (!cursor) return;
    const answer = await post("/rewards", {}, { ...query!, limit: PAGE_ROWS, cursor });
    const shown = page.current;
    // If the filter has changed or the log has started again, this answer belongs to another page.
    if (shown?.cursor !== cursor) return;
    const known = new Set(shown.rows.map(keyOf));
    const rows = [...shown.rows, ...answer.rows.filter((row) => !known.has(keyOf(row)))];
    hasOlder.current = true;
    // Keep `newest`: the next poll asks for the changes since then.
    show({ ...shown, rows, cursor: answer.cursor });
  });
  const restart = () => {
    forget();
    setPaused(false);
    setRound(round + 1);
  };
  const isTooLong = hasOlder.current && isLong(state.page);
  return { ...state, isPaused, setPaused, isTooLong, restart, reload: () => setRound(round + 1), older };
}
