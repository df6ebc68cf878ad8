// Sends callbacks of an app again: counted first, followed while it runs, stopped by a button.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { useAction, useIdempotencyKey } from "../action";
import { useCached } from "../cache";
import { ApiError, isRefused } from "../client";
import { Dialog } from "../components/dialog";
import { Choices, Field } from "../components/field";
import { focusHeading } from "../components/heading";
import { Name } from "../components/name";
import { FormError } from "../components/states";
import { common } from "../messages";
import { DELIVERY_NAMES, replay as text } from "../messages/rewards";
import { withVerification } from "../passkeys";
import { usePolling } from "../poll";
import { generation } from "../session";
import type { ReplayCount, ReplayProgress, RewardDelivery, RewardFilter } from "../types";

interface Running {
  account: number;
  appId: string;
  replayId: string;
  count: number;
}

/** Kept beyond the view, so that whoever comes back to it sees how far it is. */
const running = signal<Running | null>(null);

/** The calls of a site. */
export interface ReplayCalls {
  countReplay: (appId: string, filter: RewardFilter) => Promise<ReplayCount>;
  startReplay: (appId: string, body: { filter: RewardFilter }, key: string) => Promise<{ replay_id: string }>;
  /** How far a replay is. It is a poll, which does not extend the session. */
  replay: (appId: string, replayId: string) => Promise<ReplayProgress>;
  pollMilliseconds: number;
  cancelReplay: (appId: string, replayId: string) => Promise<void>;
}

interface Props {
  calls: ReplayCalls;
  /** Whether the member may stop a replay. */
  mayStop: boolean;
  /** Empty while none is chosen. */
  app: string;
  appName: string;
  /** What the list shows. */
  delivery: RewardDelivery | "";
  from: string;
  to: string;
  /** The list's other conditions, in words. */
  fixed: string;
  /** Said where the list has a condition that a replay does not have. */
  ignored?: string;
  /** These choices and the list's other conditions. Without `until`, it is all until now. */
  filterOf: (delivery: RewardDelivery | "", from: string, to: string) => RewardFilter;
  isOpenAtFirst: boolean;
  onClose: () => void;
}

export function ReplayMany(props: Props) {
  const { app, calls, mayStop } = props;
  const [isOpen, setOpen] = useState(props.isOpenAtFirst);
  const close = () => {
    setOpen(false);
    props.onClose();
  };
  if (running.value?.account === generation.value)
    return <Progress run={running.value} calls={calls} mayStop={mayStop} />;
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
      {isOpen && app && <Question {...props} onClose={close} />}
    </div>
  );
}

const CHOICES: Props["delivery"][] = ["", "dead", "waiting", "delivered"];

/** Starts with what the list shows. */
function Question({ calls, app: appId, appName, fixed, ignored, filterOf, onClose, ...initial }: Props) {
  const [delivery, setDelivery] = useState(initial.delivery);
  const [since, setSince] = useState(initial.from);
  const [upTo, setUpTo] = useState(initial.to);
  // A state of callbacks that is rarely sent again is a choice only where the list shows it.
  const choices = CHOICES.includes(initial.delivery) ? CHOICES : [...CHOICES, initial.delivery];
  const [counted, setCounted] = useState<(ReplayCount & { filter: RewardFilter }) | null>(null);
  const key = useIdempotencyKey();
  const areBadDates = since !== "" && upTo !== "" && upTo < since;
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setCounted(null);
    setError(null);
    if (areBadDates) return;
    const filter = filterOf(delivery, since, upTo);
    // A count needs the same right as what it counts: a fresh passkey.
    withVerification(() => calls.countReplay(appId, filter)).then(
      (answer) => isCurrent && setCounted({ ...answer, filter: { ...filter, until: answer.until } }),
      (problem) => isCurrent && setError(problem),
    );
    return () => {
      isCurrent = false;
    };
  }, [delivery, since, upTo, round]);
  const start = useAction(async () => {
    // The callbacks that were counted are sent, and no others.
    const { count, filter } = counted!;
    const body = { filter };
    const { replay_id } = await withVerification(() => calls.startReplay(appId, body, key(body)));
    running.value = { account: generation.peek(), appId, replayId: replay_id, count };
    onClose();
    focusHeading();
  });
  return (
    <Dialog title={text.title(appName)} onClose={onClose}>
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
        <Field label={text.upTo} hint={text.upToHint} error={areBadDates ? text.badDates : null}>
          {(props) => (
            <input {...props} type="date" value={upTo} onInput={(event) => setUpTo(event.currentTarget.value)} />
          )}
        </Field>
      </div>
      {fixed && (
        <p class="note">
          <Name>{text.only(fixed)}</Name>
        </p>
      )}
      {ignored && <p class="note">{ignored}</p>}
      <p role="status">
        {!counted && !error && !areBadDates && text.counting}
        {counted && (counted.count > 0 ? text.text(counted.count, counted.until) : text.nothing)}
      </p>
      <FormError error={explained(error ?? start.error)} />
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
          <button type="button" class="button primary" aria-disabled={start.isRunning} onClick={() => void start.run()}>
            {text.start(counted.count)}
          </button>
        )}
      </div>
    </Dialog>
  );
}

/** The refusals that only replays have, in words. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const words = {
    replay_running: text.alreadyRunning,
    count_too_long: text.tooLong,
    too_many_for_support: text.tooManyForSupport,
  }[error.code];
  return words ? new ApiError(error.status, error.code, words, null, null) : error;
}

type ProgressProps = Pick<Props, "calls" | "mayStop"> & { run: Running };

const isRunning = (progress: ReplayProgress | undefined) => progress === undefined || progress.state === "running";

function Progress({ run, calls, mayStop }: ProgressProps) {
  const { appId, replayId, count } = run;
  const key = `replay ${appId} ${replayId}`;
  const cached = useCached(key, () => calls.replay(appId, replayId));
  usePolling({ key, of: cached, changes: isRunning, milliseconds: calls.pollMilliseconds });
  const { data, error, reload } = cached;
  const { state, replayed } = data ?? ({ state: "running", replayed: 0 } as const);
  const isOver = !isRunning(data);
  // It is not asked for any more by itself.
  const isLost = isRefused(error);
  const cancel = useAction(async () => {
    await withVerification(() => calls.cancelReplay(appId, replayId));
    await reload();
  });
  return (
    <div class="banner">
      <p role="status">{state === "running" ? text.running(replayed, count) : text[state](replayed)}</p>
      {!isOver && <progress max={Math.max(count, 1)} value={replayed} aria-label={text.progress} />}
      <FormError error={cancel.error ?? error} />
      {isLost && (
        <button type="button" class="button small" onClick={() => void reload()}>
          {common.retry}
        </button>
      )}
      {isOver || isLost ? (
        <button type="button" class="button small" onClick={() => (running.value = null)}>
          {common.close}
        </button>
      ) : (
        mayStop && (
          <button type="button" class="button small" aria-disabled={cancel.isRunning} onClick={() => void cancel.run()}>
            {text.cancel}
          </button>
        )
      )}
    </div>
  );
}
