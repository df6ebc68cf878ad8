// Says how new the log is. People who read may stop it, since rows move when new ones come.

import { rewards as text } from "../../messages/rewards";
import type { Log } from "./use-log";

// A change needs about this time to arrive.
const USUAL_MILLISECONDS = 3000;

export function Live({ log }: { log: Log }) {
  const { page, isPaused, error } = log;
  const behind = page?.behind_ms ?? 0;
  const isLate = behind > USUAL_MILLISECONDS;
  return (
    <>
      <p class={`live ${isPaused || error ? "off" : isLate ? "late" : ""}`}>
        <span class="live-mark" aria-hidden="true" />
        {error ? text.stopped : isPaused ? text.paused : isLate ? text.behind(behind) : text.live}
      </p>
      <button type="button" class="button" onClick={() => log.setPaused(!isPaused)}>
        {isPaused ? text.goOn : text.pause}
      </button>
    </>
  );
}
