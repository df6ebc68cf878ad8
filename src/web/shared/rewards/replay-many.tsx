// Resends callbacks of an app. They are counted first. The page shows the progress, and a button stops the replay.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { useAction, useIdempotencyKey } from "../action";
import { useCached } from "../cache";
import { isRefused } from "../client";
import { PrimaryRun, SmallButton, SmallRun } from "../components/button";
import { Choices } from "../components/choices";
import { DateRangePicker } from "../components/date-range";
import { Checkbox } from "../components/field";
import { Dialog, DialogButtons } from "../components/dialog";
import { focusHeading } from "../components/heading";
import { Name } from "../components/name";
import { FormError } from "../components/states";
import { inWords } from "../error-text";
import { common } from "../messages";
import { DELIVERY_NAMES, replay as text } from "../messages/rewards";
import { usePolling } from "../poll";
import { generation } from "../session";
import type { ReplayCounted, ReplayOrder, ReplayProgress, ReplayStarted, RewardDelivery, RewardFilter } from "../types";
import { Opener, useCount } from "./many";

interface Running {
  account: number;
  appId: string;
  replayId: string;
  count: number;
}

/** Kept outside the view, so that a person who comes back sees the progress. */
const running = signal<Running | null>(null);

export interface ReplayCalls {
  /** Counts or starts a replay. */
  order: (
    appId: string,
    order: ReplayOrder,
    headers?: Record<string, string>,
  ) => Promise<Partial<ReplayCounted & ReplayStarted>>;
  /** The progress of a replay. This call is a poll, so it does not extend the session. */
  progress: (appId: string, replayId: string) => Promise<ReplayProgress>;
  pollMilliseconds: number;
  cancel: (appId: string, replayId: string) => Promise<void>;
}

interface Props {
  calls: ReplayCalls;
  mayStop: boolean;
  /** Empty while none is chosen. */
  app: string;
  appName: string;
  /** The state of callbacks that the list shows. */
  delivery: RewardDelivery | "";
  from: string;
  to: string;
  /** The list's other conditions, in words. */
  fixed: string;
  /** Shown if the list has a condition that a replay does not support. */
  ignored?: string;
  /** The filter of these choices and the list's other conditions. Without `until`, it covers all rewards until now. */
  filterOf: (delivery: RewardDelivery | "", from: string, to: string) => RewardFilter;
  isOpenAtFirst: boolean;
  onClose: () => void;
}

export function ReplayMany(props: Props) {
  const { app, calls, mayStop, isOpenAtFirst, onClose } = props;
  if (running.value?.account === generation.value)
    return <Progress run={running.value} calls={calls} mayStop={mayStop} />;
  return (
    <Opener
      name={text.many}
      subject={props}
      hint={app ? null : text.manyHint}
      class="replay-many"
      isOpenAtFirst={isOpenAtFirst}
    >
      {(asked, close) => (
        <Question
          {...asked}
          onClose={() => {
            close();
            onClose();
          }}
        />
      )}
    </Opener>
  );
}

const CHOICES: Props["delivery"][] = ["dead", "waiting", "delivered", ""];

/**
 * Preselects the state of callbacks that the list shows. If the list shows all, preselects those that were given up.
 */
function Question({ calls, app: appId, appName, fixed, ignored, filterOf, onClose, ...initial }: Props) {
  const [delivery, setDelivery] = useState<Props["delivery"]>(initial.delivery || "dead");
  const [isSure, setSure] = useState(false);
  const [range, setRange] = useState({ start_date: initial.from, end_date: initial.to });
  // Callbacks in some states are rarely resent. Such a state is a choice only if the list shows it.
  const choices = CHOICES.includes(initial.delivery) ? CHOICES : [...CHOICES, initial.delivery];
  // If a receiver does not recognize repeated callbacks, its users may be paid twice.
  const hasDelivered = delivery === "" || delivery === "delivered";
  const key = useIdempotencyKey();
  const { counted, error, retry, isCounting } = useCount(delivery, range, async () => {
    const filter = filterOf(delivery, range.start_date, range.end_date);
    // A count needs the same confirmation as the replay: a fresh passkey.
    const answer = (await calls.order(appId, { filter, dry_run: true })) as ReplayCounted;
    return { ...answer, filter: { ...filter, until: answer.until } };
  });
  const start = useAction(async () => {
    // Only the callbacks that were counted are sent.
    const { count, filter } = counted!;
    const body = { filter };
    const { replay_id } = await calls.order(appId, body, { "Idempotency-Key": key(body) });
    running.value = { account: generation.peek(), appId, replayId: replay_id!, count };
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
        onChange={([value]) => {
          setDelivery(value!);
          setSure(false);
        }}
      />
      <DateRangePicker label={text.period} range={range} onChange={setRange} />
      {fixed && (
        <p class="note">
          <Name>{text.only(fixed)}</Name>
        </p>
      )}
      {ignored && <p class="note">{ignored}</p>}
      <p role="status">
        {isCounting && text.counting}
        {counted && (counted.count > 0 ? text.text(counted.count, counted.until) : text.nothing)}
      </p>
      {hasDelivered && (
        <Checkbox checked={isSure} onChange={setSure}>
          {text.mayPayTwice}
        </Checkbox>
      )}
      <FormError error={inWords(error ?? start.error, REFUSALS, null)} />
      <DialogButtons onClose={onClose} retry={retry}>
        {counted && counted.count > 0 && (isSure || !hasDelivered) && (
          <PrimaryRun of={start}>{text.start(counted.count)}</PrimaryRun>
        )}
      </DialogButtons>
    </Dialog>
  );
}

/** The refusals that only replays have, in words. */
const REFUSALS = {
  replay_running: text.alreadyRunning,
  count_too_long: text.tooLong,
  too_many_for_support: text.tooManyForSupport,
};

type ProgressProps = Pick<Props, "calls" | "mayStop"> & { run: Running };

const isRunning = (progress: ReplayProgress | undefined) => progress === undefined || progress.state === "running";

function Progress({ run, calls, mayStop }: ProgressProps) {
  const { appId, replayId, count } = run;
  const key = `replay ${appId} ${replayId}`;
  const cached = useCached(key, () => calls.progress(appId, replayId));
  usePolling({ key, of: cached, changes: isRunning, milliseconds: calls.pollMilliseconds });
  const { data, error, reload } = cached;
  const { state, replayed } = data ?? ({ state: "running", replayed: 0 } as const);
  const isOver = !isRunning(data);
  // After a refusal, the page does not request this progress again by itself.
  const isLost = isRefused(error);
  const cancel = useAction(async () => {
    await calls.cancel(appId, replayId);
    await reload();
  });
  return (
    <div class="banner">
      <p role="status">{state === "running" ? text.running(replayed, count) : text[state](replayed)}</p>
      {!isOver && <progress max={Math.max(count, 1)} value={replayed} aria-label={text.progress} />}
      <FormError error={cancel.error ?? error} />
      {isLost && <SmallButton onClick={() => void reload()}>{common.retry}</SmallButton>}
      {isOver || isLost ? (
        <SmallButton onClick={() => (running.value = null)}>{common.close}</SmallButton>
      ) : (
        mayStop && <SmallRun of={cancel}>{text.cancel}</SmallRun>
      )}
    </div>
  );
}
