// Sends callbacks of an app again: counted first, followed while it runs, stopped by a button.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useAction, useIdempotencyKey } from "../../../pages/action";
import { ApiError } from "../../../pages/client";
import { api } from "../../api";
import { Dialog } from "../../../pages/components/dialog";
import { Choices, Field } from "../../../pages/components/field";
import { focusHeading } from "../../../pages/components/heading";
import { FormError } from "../../../pages/components/states";
import { common } from "../../messages";
import { DELIVERY_NAMES, replay as text, rewards } from "../../messages/rewards";
import { withVerification } from "../../../pages/passkeys";
import { fragment, setSearch } from "../../../pages/navigation";
import { REPLAY_HASH } from "../../router";
import { generation } from "../../../pages/session";
import type { ReplayCount, ReplayProgress, ReplayQuestion } from "../../types";
import { useAppNames } from "../app-names";
import { fixedConditions, hashOf, type LogFilter, replayOf, searchOf } from "./filter";

const POLL_MILLISECONDS = 2000;

interface Running {
  account: number;
  appId: string;
  replayId: string;
  count: number;
  progress: ReplayProgress | null;
}

/** Kept beyond the view, so that whoever comes back to it sees how far it is. */
const running = signal<Running | null>(null);

export function ReplayMany({ filter }: { filter: LogFilter }) {
  const [isOpen, setOpen] = useState(fragment.peek() === REPLAY_HASH);
  const { app } = filter;
  const close = () => {
    setOpen(false);
    // Only the link that led here opens it.
    setSearch(searchOf(filter), "replace", hashOf(filter));
  };
  if (running.value?.account === generation.value) return <Progress run={running.value} />;
  return (
    <div class="row replay-many">
      <button
        type="button"
        class="button"
        aria-disabled={!app}
        aria-describedby={app ? undefined : "replay-hint"}
        onClick={() => app && setOpen(true)}
      >
        {text.many}
      </button>
      {!app && (
        <span class="note" id="replay-hint">
          {text.manyHint}
        </span>
      )}
      {isOpen && app && <Question filter={filter} onClose={close} />}
    </div>
  );
}

const CHOICES: LogFilter["delivery"][] = ["", "dead", "waiting", "delivered"];

/** Starts with what the log shows. */
function Question({ filter, onClose }: { filter: LogFilter; onClose: () => void }) {
  const { app: appId } = filter;
  const { nameOf } = useAppNames();
  const [delivery, setDelivery] = useState(filter.delivery);
  const [since, setSince] = useState(filter.from);
  const [upTo, setUpTo] = useState(filter.to);
  // A state of callbacks that is rarely sent again is a choice only where the log shows it.
  const choices = CHOICES.includes(filter.delivery) ? CHOICES : [...CHOICES, filter.delivery];
  const [counted, setCounted] = useState<(ReplayCount & Pick<ReplayQuestion, "filter">) | null>(null);
  const key = useIdempotencyKey();
  const fixed = fixedConditions(filter);
  const areBadDates = since !== "" && upTo !== "" && upTo < since;
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setCounted(null);
    setError(null);
    if (areBadDates) return;
    const question = replayOf({ ...filter, delivery, from: since, to: upTo }, Date.now() / 1000);
    // A count needs the same right as what it counts: a fresh passkey.
    withVerification(() => api.countReplay(appId, question)).then(
      (answer) => isCurrent && setCounted({ ...answer, filter: question.filter }),
      (problem) => isCurrent && setError(problem),
    );
    return () => {
      isCurrent = false;
    };
  }, [delivery, since, upTo, round]);
  const start = useAction(async () => {
    // The callbacks that were counted are sent, and no others.
    const { count, until, filter } = counted!;
    const body = { filter, until };
    const { replay_id } = await withVerification(() => api.startReplay(appId, body, key(body)));
    running.value = { account: generation.peek(), appId, replayId: replay_id, count, progress: null };
    onClose();
    focusHeading();
  });
  return (
    <Dialog title={text.title(nameOf(appId))} onClose={onClose}>
      <Choices
        kind="radio"
        name={text.which}
        choices={choices.map((value) => ({
          value,
          label: value ? DELIVERY_NAMES[value] : text.all,
          hint: text.whichHints[value],
        }))}
        chosen={[delivery]}
        onChange={([value]) => setDelivery(value!)}
      />
      <div class="field-row replay-dates">
        <Field label={text.since} hint={text.sinceHint}>
          {(props) => (
            <input {...props} type="date" value={since} onInput={(event) => setSince(event.currentTarget.value)} />
          )}
        </Field>
        <Field label={text.upTo} hint={text.upToHint} error={areBadDates ? rewards.badDates : null}>
          {(props) => (
            <input {...props} type="date" value={upTo} onInput={(event) => setUpTo(event.currentTarget.value)} />
          )}
        </Field>
      </div>
      {fixed && (
        <p class="note">
          <bdi>{text.only(fixed)}</bdi>
        </p>
      )}
      <p role="status">
        {!counted && !error && !areBadDates && text.counting}
        {counted && (counted.count > 0 ? text.text(counted.count, counted.until) : text.nothing)}
      </p>
      {isRunning(start.error) ? (
        <p class="form-error" role="alert">
          {text.alreadyRunning}
        </p>
      ) : (
        <FormError error={explained(error ?? start.error)} />
      )}
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
        {error !== null && (
          <button type="button" class="button primary" onClick={() => setRound(round + 1)}>
            {common.retry}
          </button>
        )}
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

/** A count that takes too long, in words. */
const explained = (error: unknown) =>
  error instanceof ApiError && error.code === "count_too_long"
    ? new ApiError(error.status, error.code, text.tooLong, error.requestId, null)
    : error;

const isRunning = (error: unknown) => error instanceof ApiError && error.code === "replay_running";

function Progress({ run }: { run: Running }) {
  const { appId, replayId, count, progress } = run;
  const { state, replayed } = progress ?? { state: "running", replayed: 0 };
  const isOver = state !== "running";
  const update = async () => {
    const next = await api.replay(appId, replayId);
    if (running.peek()?.replayId === replayId) running.value = { ...run, progress: next };
  };
  useEffect(() => {
    if (isOver) return;
    // One that is not answered is made up for by the next.
    const timer = setInterval(() => !document.hidden && void update().catch(() => {}), POLL_MILLISECONDS);
    return () => clearInterval(timer);
  }, [replayId, isOver]);
  const cancel = useAction(async () => {
    await withVerification(() => api.cancelReplay(appId, replayId));
    await update();
  });
  return (
    <div class="banner">
      <p role="status">{state === "running" ? text.running(replayed, count) : text[state](replayed)}</p>
      {!isOver && <progress max={Math.max(count, 1)} value={replayed} aria-label={text.progress} />}
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
