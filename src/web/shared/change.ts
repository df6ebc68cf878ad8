// A change that a dialog asks for.

import { focusHeading } from "./components/heading";
import { say } from "./components/status";

type Run = () => Promise<unknown>;

/**
 * Makes the change. Then closes the dialog, calls `reload` and shows `said`. `reload` is left out if the change has put
 * its answer into the cache.
 */
export const confirmed = (change: Run, said: string, reload?: Run) => async (close: () => void) => {
  await change();
  close();
  if (reload) await reload();
  focusHeading();
  say(said);
};
