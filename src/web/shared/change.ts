// A change that a dialog asks for.

import { focusHeading } from "./components/heading";
import { say } from "./components/status";
import { withVerification } from "./passkeys";

type Run = () => Promise<unknown>;

/**
 * Makes the change with a fresh passkey. Then the dialog closes, what was changed is loaded, unless the change has put
 * its answer into the cache, and it is said.
 */
export const confirmed = (change: Run, said: string, close: () => void, reload?: Run) => async () => {
  await withVerification(change);
  close();
  if (reload) await reload();
  focusHeading();
  say(said);
};
