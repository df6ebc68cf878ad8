// An answer that is asked for again while the page is seen.

import { useEffect, useRef } from "preact/hooks";
import { type CachedView, useCached } from "../pages/cache";
import { isRefused } from "../pages/client";

const POLL_MILLISECONDS = 5000;
/** For what the catalog has a part in: there is one, which clicks and offers need. */
export const CATALOG_POLL_MILLISECONDS = 10_000;
const LONGEST_PAUSE_MILLISECONDS = 60_000;

interface Polling<Data> {
  key: string;
  of: CachedView<Data>;
  /** True during a poll, which does not extend the session. */
  isPoll: { current: boolean };
  /** Whether the answer may change by itself. */
  changes: (data: Data | undefined) => boolean;
  milliseconds?: number;
}

/** Loads `of` again and again. After failures it is asked less often. */
export function usePolling<Data>({ key, of, isPoll, changes, milliseconds = POLL_MILLISECONDS }: Polling<Data>) {
  const latest = useRef({ of, changes });
  latest.current = { of, changes };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let failures = 0;
    let isOver = false;
    const wait = (after: number) => {
      clearTimeout(timer);
      if (!isOver) timer = setTimeout(() => void poll(), after);
    };
    const poll = async () => {
      const { of: asked, changes: mayChange } = latest.current;
      if (document.hidden || isRefused(asked.error) || !mayChange(asked.data)) return wait(milliseconds);
      isPoll.current = true;
      await asked.reload();
      isPoll.current = false;
      failures = latest.current.of.error ? failures + 1 : 0;
      wait(Math.min(LONGEST_PAUSE_MILLISECONDS, milliseconds * 2 ** failures));
    };
    const onSeen = () => !document.hidden && wait(0);
    document.addEventListener("visibilitychange", onSeen);
    wait(milliseconds);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onSeen);
    };
  }, [key]);
}

/** The answer for `key`, kept up to date. `load` is told whether it is a poll. */
export function usePolled<Data>(
  key: string,
  load: (isPoll: boolean) => Promise<Data>,
  changes: (data: Data | undefined) => boolean = () => true,
  milliseconds = POLL_MILLISECONDS,
): CachedView<Data> {
  const isPoll = useRef(false);
  const cached = useCached(key, () => load(isPoll.current));
  usePolling({ key, of: cached, isPoll, changes, milliseconds });
  return cached;
}
