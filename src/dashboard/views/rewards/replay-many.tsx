// Sends the callbacks of all rewards that match again: counted first, followed while it runs, stopped by a button.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useAction, useIdempotencyKey } from "../../action";
import { api } from "../../api";
import { Dialog } from "../../components/dialog";
import { focusHeading } from "../../components/heading";
import { FormError } from "../../components/states";
import { say } from "../../components/status";
import { common } from "../../messages";
import { replay as text } from "../../messages/rewards";
import { withVerification } from "../../passkeys";
import { generation } from "../../session";
import type { ReplayCount, ReplayProgress, RewardFilter } from "../../types";
import { type LogFilter, queryOf } from "./filter";

const POLL_MILLISECONDS = 2000;

interface Running {
  account: number;
  appId: string;
  replayId: string;
  progress: ReplayProgress | null;
}

/** Kept beyond the view, so that whoever comes back to it sees how far it is. */
const running = signal<Running | null>(null);

export function ReplayMany({ filter }: { filter: LogFilter }) {
  const [isOpen, setOpen] = useState(false);
  const { app_id: appId, ...conditions } = queryOf(filter);
  if (running.value?.account === generation.value) return <Progress run={running.value} />;
  return (
    <div class="row replay-many">
      <button
        type="button"
        class="button"
        aria-disabled={!appId}
        aria-describedby={appId ? undefined : "replay-hint"}
        onClick={() => appId && setOpen(true)}
      >
        {text.many}
      </button>
      {!appId && (
        <span class="note" id="replay-hint">
          {text.manyHint}
        </span>
      )}
      {isOpen && appId && <Question appId={appId} filter={conditions} onClose={() => setOpen(false)} />}
    </div>
  );
}

interface QuestionProps {
  appId: string;
  filter: RewardFilter;
  onClose: () => void;
}

function Question({ appId, filter, onClose }: QuestionProps) {
  const [counted, setCounted] = useState<ReplayCount | null>(null);
  const key = useIdempotencyKey();
  const load = useAction(async () => setCounted(await api.countReplay(appId, filter)));
  useEffect(() => void load.run(), []);
  const start = useAction(async () => {
    const body = { filter, until: counted!.until };
    const { replay_id } = await withVerification(() => api.startReplay(appId, body, key(body)));
    running.value = { account: generation.peek(), appId, replayId: replay_id, progress: null };
    onClose();
    focusHeading();
  });
  return (
    <Dialog title={text.title} onClose={onClose}>
      <p role="status">
        {!counted && !load.error && text.counting}
        {counted && (counted.count > 0 ? text.text(counted.count, counted.until) : text.nothing)}
      </p>
      <FormError error={load.error ?? start.error} />
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
        {counted && counted.count > 0 && (
          <button
            type="button"
            class="button primary"
            aria-disabled={start.isRunning}
            onClick={() => void start.run()}
          >
            {text.start(counted.count)}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function Progress({ run }: { run: Running }) {
  const { appId, replayId, progress } = run;
  const isOver = progress !== null && progress.state !== "running";
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => {
      if (document.hidden) return;
      api.replay(appId, replayId).then(
        (next) => {
          if (running.peek()?.replayId === replayId) running.value = { ...run, progress: next };
        },
        // The next one may be answered.
        () => {},
      );
    }, POLL_MILLISECONDS);
    return () => clearInterval(timer);
  }, [replayId, isOver]);
  const cancel = useAction(async () => {
    await withVerification(() => api.cancelReplay(appId, replayId));
    const replayed = progress?.replayed ?? 0;
    say(text.cancelled(replayed));
    running.value = { ...run, progress: { state: "cancelled", count: progress?.count ?? 0, replayed } };
  });
  const { state = "running", count = 0, replayed = 0 } = progress ?? {};
  return (
    <div class="banner">
      <p role="status">
        {state === "running" ? (progress ? text.running(replayed, count) : text.counting) : text[state](replayed)}
      </p>
      {!isOver && progress && <progress max={Math.max(count, 1)} value={replayed} aria-label={text.title} />}
      <FormError error={cancel.error} />
      <button
        type="button"
        class="button small"
        aria-disabled={cancel.isRunning}
        onClick={() => (isOver ? (running.value = null) : void cancel.run())}
      >
        {isOver ? common.close : text.cancel}
      </button>
    </div>
  );
}
