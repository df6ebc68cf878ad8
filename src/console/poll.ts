// An answer that is asked for again while the page is seen.

import { useEffect, useRef } from "preact/hooks";
import { type CachedView, useCached } from "../pages/cache";

const POLL_MILLISECONDS = 5000;
const LONGEST_PAUSE_MILLISECONDS = 60_000;

/** `load` is told whether it is a poll, which does not extend the session. After failures it is asked less often. */
export function usePolled<Data>(
  key: string,
  load: (isPoll: boolean) => Promise<Data>,
  /** Whether the answer may change by itself. */
  changes: (data: Data | undefined) => boolean = () => true,
): CachedView<Data> {
  const isPoll = useRef(false);
  const cached = useCached(key, () => load(isPoll.current));
  const latest = useRef(cached);
  latest.current = cached;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let failures = 0;
    let isOver = false;
    const wait = (after: number) => {
      clearTimeout(timer);
      if (!isOver) timer = setTimeout(() => void poll(), after);
    };
    const poll = async () => {
      const status = latest.current.error?.status ?? 0;
      // A request that is wrong stays wrong.
      const isRefused = status >= 400 && status < 500 && status !== 429;
      if (document.hidden || isRefused || !changes(latest.current.data)) return wait(POLL_MILLISECONDS);
      isPoll.current = true;
      await latest.current.reload();
      isPoll.current = false;
      failures = latest.current.error ? failures + 1 : 0;
      wait(Math.min(LONGEST_PAUSE_MILLISECONDS, POLL_MILLISECONDS * 2 ** failures));
    };
    const onSeen = () => !document.hidden && wait(0);
    document.addEventListener("visibilitychange", onSeen);
    wait(POLL_MILLISECONDS);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onSeen);
    };
  }, [key]);
  return cached;
}
