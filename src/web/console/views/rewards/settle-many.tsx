// Settles all rewards that match: counted first, with a reason, and with what was refused said afterwards.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { Dialog, TextField } from "../../../shared/components/dialog";
import { Choices, Field } from "../../../shared/components/field";
import { FormError } from "../../../shared/components/states";
import { endOf, startOf } from "../../../shared/format";
import { common } from "../../../shared/messages";
import { isReasonCode, replay, STATE_NAMES } from "../../../shared/messages/rewards";
import { settle as text } from "../../messages/rewards";
import type { ManyFilter, ReasonCode, SettledMany, Settling } from "../../types/rewards";
import { ACTIONS, type RewardsFilter } from "./filter";
import { settleAll } from "./settle-all";
import { LONGEST_REASON } from "./settle-one";

// A count must give a reason, too, and nothing keeps it.
const REASON_OF_COUNT = "count";

interface Props {
  filter: RewardsFilter;
  appName: string;
  onSettled: () => void;
}

export function SettleMany({ filter, appName, onSettled }: Props) {
  const [isOpen, setOpen] = useState(false);
  const actions = filter.status ? ACTIONS[filter.status] : [];
  // An approval pays whatever a reward was refused for, also one that was paid already.
  const needsReason = filter.status === "refused" && !filter.reason;
  const isPossible = actions.length > 0 && !needsReason;
  return (
    <div class="row">
      <button
        type="button"
        class="button"
        aria-disabled={!isPossible}
        aria-describedby={isPossible ? undefined : "settle-hint"}
        onClick={() => isPossible && setOpen(true)}
      >
        {text.many}
      </button>
      {!isPossible && (
        <span class="note" id="settle-hint">
          {needsReason ? text.manyReason : filter.status ? text.manyNone : text.manyHint}
        </span>
      )}
      {isOpen && isPossible && (
        <Question
          filter={filter}
          actions={actions}
          appName={appName}
          onSettled={onSettled}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

function filterOf({ status, reason, user }: RewardsFilter, since: string, upTo: string): ManyFilter {
  return {
    status: status as ManyFilter["status"],
    ...(reason && { reason }),
    ...(user && { user_id: user }),
    ...(since && { since: startOf(since) }),
    ...(upTo && { until: endOf(upTo) }),
  };
}

interface QuestionProps extends Props {
  actions: Settling[];
  onClose: () => void;
}

function Question({ filter, actions, appName, onSettled, onClose }: QuestionProps) {
  const { app } = filter;
  const [action, setAction] = useState(actions[0]!);
  const [since, setSince] = useState("");
  const [upTo, setUpTo] = useState("");
  const [reason, setReason] = useState("");
  const [counted, setCounted] = useState<SettledMany | null>(null);
  const [result, setResult] = useState<SettledMany | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const [done, setDone] = useState(0);
  const areBadDates = since !== "" && upTo !== "" && upTo < since;
  useEffect(() => {
    let isCurrent = true;
    setCounted(null);
    setError(null);
    if (areBadDates) return;
    const question = { filter: filterOf(filter, since, upTo), reason: REASON_OF_COUNT, dry_run: true };
    const part = { onPart: () => {}, isOver: () => !isCurrent };
    settleAll(app, action, question, part).then(
      (answer) => isCurrent && setCounted(answer),
      (problem) => isCurrent && setError(problem),
    );
    return () => {
      isCurrent = false;
    };
  }, [action, since, upTo, round]);
  const run = useAction(async (despite: string[]) => {
    // Those that were counted are settled, and none that came later.
    const many = { ...filterOf(filter, since, upTo), until: counted!.until };
    const settlement = {
      filter: many,
      reason: reason.trim(),
      ...(despite.length > 0 && { despite: despite as ReasonCode[] }),
    };
    const part = { onPart: ({ settled = 0 }: SettledMany) => setDone(settled), isOver: () => isClosed.current };
    try {
      setResult(await settleAll(app, action, settlement, part));
    } finally {
      onSettled();
    }
  });
  // Closing stops after the part that is being settled.
  const isClosed = useRef(false);
  useEffect(
    () => () => {
      isClosed.current = true;
    },
    [],
  );
  if (result) {
    return <Result action={action} result={result} run={run} onClose={onClose} />;
  }
  const conditions = [
    STATE_NAMES[filterOf(filter, "", "").status].toLowerCase(),
    filter.reason && text.withReason(filter.reason),
    filter.user && text.ofUser(filter.user),
  ].filter(Boolean) as string[];
  const count = counted?.count ?? 0;
  return (
    <Dialog title={text.manyTitle(appName)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (count > 0) void run.run([]);
        }}
      >
        <p>
          <bdi>{text.which(conditions)}</bdi> {filter.state && text.unusedDelivery}
        </p>
        {actions.length > 1 && (
          <Choices
            kind="radio"
            name={text.action}
            choices={actions.map((value) => ({ value, label: text.names[value], hint: text.actionHints[value] }))}
            chosen={[action]}
            onChange={([value]) => setAction(value!)}
          />
        )}
        <div class="field-row replay-dates">
          <Field label={text.since} hint={text.emptyForAll}>
            {(props) => (
              <input {...props} type="date" value={since} onInput={(event) => setSince(event.currentTarget.value)} />
            )}
          </Field>
          <Field label={text.upTo} hint={text.emptyForAll} error={areBadDates ? replay.badDates : null}>
            {(props) => (
              <input {...props} type="date" value={upTo} onInput={(event) => setUpTo(event.currentTarget.value)} />
            )}
          </Field>
        </div>
        <TextField
          label={text.reason}
          hint={text.reasonHint}
          longest={LONGEST_REASON}
          value={reason}
          onChange={setReason}
        />
        <p role="status">
          {run.isRunning
            ? text.running(done, count)
            : counted
              ? count > 0
                ? `${text.matches(count, counted.until)} ${text.manyTexts[action]}`
                : text.nothing
              : !error && !areBadDates && text.counting}
        </p>
        <FormError error={error ?? run.error} />
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            {common.cancel}
          </button>
          {error !== null && (
            <button type="button" class="button primary" onClick={() => setRound(round + 1)}>
              {common.retry}
            </button>
          )}
          {count > 0 && (
            <button
              type="submit"
              class={action === "approve" ? "button primary" : "button danger"}
              aria-disabled={run.isRunning}
            >
              {text.start(action, count)}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

interface ResultProps {
  action: Settling;
  result: SettledMany;
  run: { isRunning: boolean; error: unknown; run: (despite: string[]) => Promise<void> };
  onClose: () => void;
}

function Result({ action, result, run, onClose }: ResultProps) {
  const [despite, setDespite] = useState<string[]>([]);
  const refused = Object.entries(result.refused ?? {});
  const sum = refused.reduce((all, [, number]) => all + number, 0);
  const settled = result.settled ?? 0;
  const already = result.count - settled - sum;
  // Each may be overridden, so that the next try meets the next reason against them.
  const overridable = action === "approve" ? refused.filter(([code]) => isReasonCode(code)) : [];
  const chosen = overridable.filter(([code]) => despite.includes(code));
  return (
    <Dialog title={text.resultTitle(action, settled)} onClose={onClose}>
      {already > 0 && <p>{text.already(already)}</p>}
      {sum > 0 && (
        <>
          <p>{text.refusedTitle(sum)}</p>
          <ul class="lines">
            {refused.map(([code, number]) => (
              <li key={code}>{text.refusedOf(code, number)}</li>
            ))}
          </ul>
        </>
      )}
      {overridable.length > 0 && (
        <Choices
          kind="checkbox"
          name={text.despiteNames}
          choices={overridable.map(([code, number]) => ({ value: code, label: text.refusedOf(code, number) }))}
          chosen={despite}
          onChange={setDespite}
        />
      )}
      <FormError error={run.error} />
      <div class="dialog-buttons">
        {chosen.length > 0 && (
          <button type="button" class="button" aria-disabled={run.isRunning} onClick={() => void run.run(despite)}>
            {text.again(chosen.reduce((all, [, number]) => all + number, 0))}
          </button>
        )}
        <button type="button" class="button primary" onClick={onClose}>
          {common.done}
        </button>
      </div>
    </Dialog>
  );
}
