// Client cache of answers: a view shows the last answer at once and reloads it in the background.

import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ApiError } from "./client";

export interface Cached<Data> {
  data: Data | undefined;
  /** Error of the newest attempt. If there is also `data`, the data is old. */
  error: ApiError | undefined;
  isLoading: boolean;
  /** When `data` arrived, in milliseconds. */
  at: number;
}

interface Entry<Data> {
  state: Signal<Cached<Data>>;
  load: () => Promise<Data>;
  run: Promise<unknown> | undefined;
}

// Each filter or page of a report is an entry; 60 of them are about 1 MB.
const MAX_ENTRIES = 60;

// Two parts of a view that request the same answer within this time share one load.
const FRESH_MILLISECONDS = 2000;

const NOTHING: Cached<never> = { data: undefined, error: undefined, isLoading: false, at: 0 };

/** Rises when a view that was kept behind the sign-in view comes back, so that its answers are reloaded. */
export const returned = signal(0);

const entries = new Map<string, Entry<unknown>>();

function entryOf<Data>(key: string, load: () => Promise<Data>): Entry<Data> {
  let entry = entries.get(key) as Entry<Data> | undefined;
  if (entry) {
    entries.delete(key);
  } else {
    entry = { state: signal<Cached<Data>>(NOTHING), load, run: undefined };
  }
  entry.load = load;
  entries.set(key, entry as Entry<unknown>);
  if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!);
  return entry;
}

/** Resolves to the error if the load failed. */
function run<Data>(entry: Entry<Data>): Promise<unknown> {
  entry.run ??= (async () => {
    entry.state.value = { ...entry.state.value, isLoading: true };
    try {
      const data = await entry.load();
      entry.state.value = { data, error: undefined, isLoading: false, at: Date.now() };
    } catch (error) {
      entry.state.value = { ...entry.state.value, error: error as ApiError, isLoading: false };
      return error;
    } finally {
      entry.run = undefined;
    }
  })();
  return entry.run;
}

/** Starts a load ahead of the view that will show it. */
export function prefetch<Data>(key: string, load: () => Promise<Data>): Promise<unknown> {
  return run(entryOf(key, load));
}

export function refresh(key: string): Promise<unknown> {
  const entry = entries.get(key);
  return entry ? run(entry) : Promise.resolve();
}

/** The answer that is kept for `key`. */
export const peek = (key: string) => entries.get(key)?.state.peek().data;

/** Stores the answer of a change as if the next load had returned it. */
export function put<Data>(key: string, data: Data) {
  const entry = entries.get(key) as Entry<Data> | undefined;
  if (entry) entry.state.value = { data, error: undefined, isLoading: false, at: Date.now() };
}

/** Functions that forget the rest of what a page remembers about an account. */
export const memories = new Set<() => void>();

/** Forgets everything: the next person or account sees nothing of this one. */
export function clearCache() {
  entries.clear();
  for (const forget of memories) forget();
}

export interface CachedView<Data> extends Cached<Data> {
  reload: () => Promise<unknown>;
}

/** The answer for `key`, loaded when the view opens. With `null` nothing is loaded yet. */
export function useCached<Data>(key: string | null, load: () => Promise<Data>): CachedView<Data> {
  const entry = key === null ? null : entryOf(key, load);
  useEffect(() => {
    if (!entry) return;
    const { at, error } = entry.state.peek();
    if (error || Date.now() - at > FRESH_MILLISECONDS) void run(entry);
  }, [key, returned.value]);
  const state = entry ? entry.state.value : NOTHING;
  return { ...state, reload: () => (entry ? run(entry) : Promise.resolve()) };
}
