// Polling: an answer is loaded again and again while the page is visible.

import { useEffect, useRef } from "preact/hooks";
import type { CachedView } from "./cache";
import { isRefused } from "./client";

const MAX_PAUSE_MILLISECONDS = 60_000;

interface Polling<Data> {
  key: string;
  of: CachedView<Data>;
  /** True if the answer may change by itself. */
  changes: (data: Data | undefined) => boolean;
  milliseconds: number;
  /** True during a poll, for calls that tell the server so. */
  isPoll?: { current: boolean };
}

/** Loads `of` again and again, until a request is refused. After other failures it waits longer. */
export function usePolling<Data>({ key, of, changes, milliseconds, isPoll = { current: false } }: Polling<Data>) {
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
      wait(Math.min(MAX_PAUSE_MILLISECONDS, milliseconds * 2 ** failures));
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
