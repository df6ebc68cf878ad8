// Polls of the console. Each call is marked as a poll, because a poll must not extend the session.

import { useRef } from "preact/hooks";
import { type CachedView, useCached } from "../shared/cache";
import { usePolling } from "../shared/poll";

const POLL_MILLISECONDS = 5000;
/**
 * For answers that need the catalog. They are polled less often, because clicks and offers also need the one catalog.
 */
export const CATALOG_POLL_MILLISECONDS = 10_000;
/** For the parts of the service's page. The pause is long because the catalog counts its rows for an answer. */
export const SERVICE_POLL_MILLISECONDS = 30_000;

/** The answer for `key`, kept up to date. `load` gets true if the call is a poll. */
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
