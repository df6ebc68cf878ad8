// A change that a button starts: runs once at a time and keeps its error for the form.

import { useRef, useState } from "preact/hooks";

export interface Action<Arguments extends unknown[]> {
  isRunning: boolean;
  error: unknown;
  run: (...args: Arguments) => Promise<void>;
  clear: () => void;
}

export function useAction<Arguments extends unknown[]>(
  perform: (...args: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [state, setState] = useState<{ isRunning: boolean; error: unknown }>({ isRunning: false, error: null });
  // A second click can come before the button is drawn as busy.
  const busy = useRef(false);
  const run = async (...args: Arguments) => {
    if (busy.current) return;
    busy.current = true;
    setState({ isRunning: true, error: null });
    try {
      await perform(...args);
      setState({ isRunning: false, error: null });
    } catch (error) {
      setState({ isRunning: false, error });
    } finally {
      busy.current = false;
    }
  };
  return { ...state, run, clear: () => setState({ isRunning: false, error: null }) };
}

/**
 * A key for a call that must take effect only once. A retry has the same key, so the call takes effect once even if an
 * answer was lost. A call with another body has a new key.
 */
export function useIdempotencyKey(): (body: object) => string {
  const last = useRef({ body: "", key: "" });
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current.body !== text) last.current = { body: text, key: crypto.randomUUID() };
    return last.current.key;
  };
}
