// Decides the ticked rewards one after the other. They may belong to different apps.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { ApiError } from "../../../shared/client";
import { SmallButton } from "../../../shared/components/button";
import { Checkbox } from "../../../shared/components/field";
import { FormDialog } from "../../../shared/components/form-dialog";
import { FormError } from "../../../shared/components/states";
import type { SettledMany, Settlement } from "../../../shared/generated/openapi";
import type { Ticks } from "../../components/ticks";
import { type Settling, settle as words, decide as text } from "../../messages/rewards";
import { nowSeconds } from "../../session";
import { Result } from "../rewards/settle-many";
import { ReasonField, settle, settlementOf } from "../rewards/settle-one";
import { type Asked, keyOf } from "./to-decide";
import type { AttentionItem } from "../../types";

const payoutOf = (items: Iterable<AttentionItem>) =>
  [...items].reduce((sum, { payout_usd: payout = 0 }) => sum + Math.round(payout * 1_000_000), 0) / 1_000_000;

interface BarProps {
  /** The items of the list that can be ticked. */
  items: AttentionItem[];
  ticks: Ticks<AttentionItem>;
  onAsk: (asked: Asked) => void;
}

/** The bar above the list: the number of ticked rewards, their sum, and the possible actions. */
export function DecideBar({ items, ticks, onAsk }: BarProps) {
  const chosen = items.filter((item) => ticks.ticked.has(keyOf(item)));
  // A conversion above a cap is already refused, so it can only be approved.
  const actions: Settling[] = chosen.every(({ kind }) => kind === "held") ? ["approve", "reject"] : ["approve"];
  return (
    <div class="row decide-bar">
      <Checkbox
        checked={chosen.length === items.length}
        onChange={(isOn) => ticks.set(new Set(isOn ? items.map(keyOf) : []))}
      >
        <span>{text.all(items.length)}</span>
      </Checkbox>
      {chosen.length > 0 && (
        <>
          <span role="status">{text.ticked(chosen.length, payoutOf(chosen))}</span>
          {actions.map((action) => (
            <SmallButton key={action} onClick={() => onAsk({ action, items: chosen })}>
              {words.names[action]}…
            </SmallButton>
          ))}
        </>
      )}
    </div>
  );
}

interface ManyProps extends Asked {
  onDone: () => void;
  onClose: () => void;
}

export function DecideMany({ action, items, onDone, onClose }: ManyProps) {
  const [reason, setReason] = useState("");
  const [result, setResult] = useState<SettledMany | null>(null);
  const [done, setDone] = useState(0);
  // The rewards that were decided here, and those that somebody else had already decided.
  const settled = useRef(new Set<AttentionItem>());
  const already = useRef(new Set<AttentionItem>());
  // Closing the dialog stops the run after the current reward.
  const [closing] = useState(() => new AbortController());
  useEffect(() => () => closing.abort(), []);
  const run = useAction(async (despite: string[]) => {
    const settlement = settlementOf(reason, despite);
    const refused: Record<string, number> = {};
    try {
      for (const item of items) {
        if (settled.current.has(item) || already.current.has(item)) continue;
        if (closing.signal.aborted) return;
        const { isDone, code } = await settleOne(item, action, settlement);
        if (code !== null) refused[code] = (refused[code] ?? 0) + 1;
        else (isDone ? settled : already).current.add(item);
        setDone(settled.current.size);
      }
    } finally {
      onDone();
    }
    setResult({
      count: items.length,
      payout: payoutOf(items),
      settled: settled.current.size,
      settled_payout: payoutOf(settled.current),
      refused,
      until: nowSeconds(),
      next: null,
    });
  });
  if (result) return <Result action={action} result={result} run={run} onClose={onClose} />;
  const apps = new Set(items.map((item) => item.app_id)).size;
  return (
    <FormDialog
      title={text.title(action, items.length)}
      button={words.start(action, items.length, payoutOf(items))}
      dangerous={action !== "approve"}
      onSubmit={() => run.run([])}
      onClose={onClose}
    >
      <p>{text.text(items.length, apps, payoutOf(items))}</p>
      <p role="status">{run.isRunning ? words.running(done, items.length) : words.manyTexts[action]}</p>
      <ReasonField value={reason} onChange={setReason} />
      <FormError error={run.error} />
    </FormDialog>
  );
}

/** A refusal concerns one reward only. Any other failure ends the run, which can be started again. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && [404, 409, 410].includes(error.status);

async function settleOne(
  { app_id: appId, subject }: AttentionItem,
  action: Settling,
  settlement: Settlement,
): Promise<{ isDone: boolean; code: string | null }> {
  try {
    const { duplicate } = await settle(appId!, subject, action, settlement);
    return { isDone: !duplicate, code: null };
  } catch (error) {
    if (isRefusal(error)) return { isDone: false, code: error.code };
    throw error;
  }
}
