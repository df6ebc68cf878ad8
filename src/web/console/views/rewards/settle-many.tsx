// Settles all rewards that match: counts them first, asks for a reason, and shows afterwards which were refused.

import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { PrimaryButton } from "../../../shared/components/button";
import { Choices } from "../../../shared/components/choices";
import { DateRangePicker } from "../../../shared/components/date-range";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { Form, SubmitButton } from "../../../shared/components/form";
import { FormError } from "../../../shared/components/states";
import { endOf, startOf } from "../../../shared/format";
import { common } from "../../../shared/messages";
import { isReasonCode, replay, STATE_NAMES } from "../../../shared/messages/rewards";
import type { DateRange } from "../../../shared/periods";
import { Opener, useCount } from "../../../shared/rewards/many";
import type { SettledMany, SettlementOfMany } from "../../../shared/generated/openapi";
import { type Settling, settle as text } from "../../messages/rewards";
import { ACTIONS, type RewardsFilter } from "./filter";
import { settleAll } from "./settle-all";
import { ReasonField, settlementOf } from "./settle-one";

type ManyFilter = SettlementOfMany["filter"];

// A count also needs a reason. The reason is not stored.
const REASON_OF_COUNT = "count";

interface Props {
  filter: RewardsFilter;
  appName: string;
  onSettled: () => void;
}

export function SettleMany(props: Props) {
  const { state, reason } = props.filter;
  const actions = state ? ACTIONS[state] : [];
  // An approval overrides any reason for the refusal, even that the reward was already paid. So the filter must name a
  // reason.
  const needsReason = state === "refused" && !reason;
  const isPossible = actions.length > 0 && !needsReason;
  const hint = needsReason ? text.manyReason : state ? text.manyNone : text.manyHint;
  return (
    <Opener name={text.many} subject={{ ...props, actions }} hint={isPossible ? null : hint}>
      {(asked, close) => <Question {...asked} onSettled={props.onSettled} onClose={close} />}
    </Opener>
  );
}

const filterOf = ({ state, reason, user }: RewardsFilter, { start_date, end_date }: DateRange): ManyFilter => ({
  status: state as ManyFilter["status"],
  ...(reason && { reason }),
  ...(user && { user_id: user }),
  ...(start_date && { since: startOf(start_date) }),
  ...(end_date && { until: endOf(end_date) }),
});

interface QuestionProps extends Props {
  actions: Settling[];
  onClose: () => void;
}

function Question({ filter, actions, appName, onSettled, onClose }: QuestionProps) {
  const { app } = filter;
  const [action, setAction] = useState(actions[0]!);
  const [range, setRange] = useState({ start_date: "", end_date: "" });
  const [reason, setReason] = useState("");
  const [result, setResult] = useState<SettledMany | null>(null);
  const [done, setDone] = useState(0);
  const { counted, error, retry, isCounting } = useCount(action, range, (isOver) => {
    const question = { filter: filterOf(filter, range), reason: REASON_OF_COUNT, dry_run: true };
    return settleAll(app, action, question, { onPart: () => {}, isOver });
  });
  const run = useAction(async (despite: string[]) => {
    // Settle only the rewards that were counted, and none that came later.
    const many = { ...filterOf(filter, range), until: counted!.until };
    const settlement = { filter: many, ...settlementOf(reason, despite) };
    const part = { onPart: ({ settled = 0 }: SettledMany) => setDone(settled), isOver: () => closing.signal.aborted };
    try {
      setResult(await settleAll(app, action, settlement, part));
    } finally {
      onSettled();
    }
  });
  // Closing the dialog stops the run after the current part.
  const [closing] = useState(() => new AbortController());
  useEffect(() => () => closing.abort(), []);
  if (result) {
    return <Result action={action} result={result} run={run} onClose={onClose} />;
  }
  const conditions = [
    filter.state && STATE_NAMES[filter.state].toLowerCase(),
    filter.reason && text.withReason(filter.reason),
    filter.user && text.ofUser(filter.user),
  ].filter(Boolean);
  const count = counted?.count ?? 0;
  return (
    <Dialog title={text.manyTitle(appName)} onClose={onClose}>
      <Form onSubmit={() => count > 0 && void run.run([])}>
        <p>
          <bdi>{text.which(conditions)}</bdi> {filter.delivery && text.unusedDelivery}
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
        <DateRangePicker label={replay.period} range={range} onChange={setRange} />
        <ReasonField value={reason} onChange={setReason} />
        <p role="status">
          {run.isRunning
            ? text.running(done, count)
            : counted
              ? count > 0
                ? `${text.matches(count, counted.payout, counted.until)} ${text.manyTexts[action]}`
                : text.nothing
              : isCounting && replay.counting}
        </p>
        <FormError error={error ?? run.error} />
        <DialogButtons onClose={onClose} retry={retry}>
          {count > 0 && (
            <SubmitButton class={action === "approve" ? "button primary" : "button danger"} isDisabled={run.isRunning}>
              {text.start(action, count, counted!.payout)}
            </SubmitButton>
          )}
        </DialogButtons>
      </Form>
    </Dialog>
  );
}

interface ResultProps {
  action: Settling;
  result: SettledMany;
  run: { isRunning: boolean; error: unknown; run: (despite: string[]) => Promise<void> };
  onClose: () => void;
}

/** The numbers of settled and refused rewards. Some refusals can be overridden. */
export function Result({ action, result, run, onClose }: ResultProps) {
  const [despite, setDespite] = useState<string[]>([]);
  const refused = Object.entries(result.refused ?? {});
  const sum = refused.reduce((all, [, number]) => all + number, 0);
  const settled = result.settled ?? 0;
  const already = result.count - settled - sum;
  // Each reason may be overridden. Then the next try may be refused for another reason.
  const overridable = action === "approve" ? refused.filter(([code]) => isReasonCode(code)) : [];
  const chosen = overridable.filter(([code]) => despite.includes(code));
  return (
    <Dialog title={text.resultTitle(action, settled, result.settled_payout ?? 0)} onClose={onClose}>
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
        <PrimaryButton onClick={onClose}>{common.done}</PrimaryButton>
      </div>
    </Dialog>
  );
}
