// Says how new the log is, with a button that pauses it, because rows move under a reader when new ones arrive.

import { isBehind } from "../../../shared/behind";
import { rewards as text } from "../../messages/rewards";
import type { Log } from "./use-log";
import { Button } from "../../../shared/components/button";

export function Live({ log }: { log: Log }) {
  const { page, isPaused, isTooLong, error } = log;
  const behind = page?.behind_ms ?? 0;
  const isLate = isBehind(behind);
  const state = isTooLong ? text.pausedTooLong : isPaused ? text.paused : isLate ? text.behind(behind) : text.live;
  return (
    <>
      <p class={`live ${isPaused || isTooLong || error ? "off" : isLate ? "late" : ""}`}>
        <span class="live-mark" aria-hidden="true" />
        {error ? text.stopped : state}
      </p>
      <Button onClick={() => (isTooLong ? log.restart() : log.setPaused(!isPaused))}>
        {isTooLong ? text.restart : isPaused ? text.goOn : text.pause}
      </Button>
    </>
  );
}
