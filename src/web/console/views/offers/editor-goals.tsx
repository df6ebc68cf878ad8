// The goals of an offer, each a group of fields.

import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../../shared/components/button";
import { Area, Input } from "../../../shared/components/field";
import { Card } from "../../../shared/components/part";
import { Plus } from "../../../shared/components/icons";
import { editor as text, goalFields } from "../../messages/offer-editor";
import { emptyGoal, type GoalDraft } from "./draft";
import type { EditorState } from "./fields";

const MAX_GOALS = 50;

/** Fields whose typed text is trimmed. */
const TRIMMED = new Set<keyof GoalDraft>(["id", "payout_usd", "ord"]);

interface Props {
  state: EditorState;
  retired: string[];
}

export function Goals({ state, retired }: Props) {
  const { goals } = state.draft;
  const part = useRef<HTMLDivElement>(null);
  const added = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (added.current === null) return;
    part.current?.querySelector<HTMLElement>(`[data-goal="${added.current}"] input`)?.focus();
    added.current = null;
  }, [goals.length]);
  const change = (at: number, fields: Partial<GoalDraft>) =>
    state.set({ goals: goals.with(at, { ...goals[at]!, ...fields }) });
  return (
    <Card title={text.goals} intro={text.goalsHint}>
      <div ref={part}>
        {goals.map((goal, index) => (
          <GoalFields
            key={index}
            goal={goal}
            index={index}
            problem={(field) => state.problem(`goals[${index}].${field}`)}
            onChange={(fields) => change(index, fields)}
            onRemove={
              goals.length > 1 && !state.isReadOnly
                ? () => {
                    state.set({ goals: goals.toSpliced(index, 1) });
                    part.current?.parentElement?.querySelector<HTMLElement>("[data-add]")?.focus();
                  }
                : null
            }
          />
        ))}
      </div>
      {retired.length > 0 && <p class="note retired-goals">{text.retired(retired)}</p>}
      {goals.length < MAX_GOALS && !state.isReadOnly && (
        <button
          type="button"
          class="button"
          data-add
          onClick={() => {
            added.current = goals.length;
            state.set({ goals: [...goals, emptyGoal(goals)] });
          }}
        >
          <Plus /> {text.addGoal}
        </button>
      )}
    </Card>
  );
}

interface GoalProps {
  goal: GoalDraft;
  index: number;
  problem: (field: keyof GoalDraft) => string | null;
  onChange: (fields: Partial<GoalDraft>) => void;
  onRemove: (() => void) | null;
}

function GoalFields({ goal, index, problem, onChange, onRemove }: GoalProps) {
  const field = (name: keyof GoalDraft) => ({
    ...goalFields[name],
    // Only the first goal shows the hints, so that fifty goals do not repeat them.
    ...(index > 0 && { hint: undefined }),
    error: problem(name),
    value: goal[name],
    spellcheck: name === "instr" ? undefined : false,
    onChange: (typed: string) => onChange({ [name]: TRIMMED.has(name) ? typed.trim() : typed }),
  });
  return (
    <fieldset class="goal-fields" data-goal={index}>
      <legend>{text.goal(index + 1)}</legend>
      <div class="field-row">
        <Input class="mono" {...field("id")} />
        <Input inputMode="decimal" {...field("payout_usd")} />
        <Input class="mono" {...field("gl_val")} />
        <Input inputMode="numeric" {...field("ord")} />
      </div>
      <Input {...field("ttl")} />
      <Area rows={Math.min(8, Math.max(3, goal.instr.split("\n").length))} {...field("instr")} />
      {onRemove && (
        <Button class="button small danger-text" onClick={onRemove}>
          {text.removeGoal(index + 1)}
        </Button>
      )}
    </fieldset>
  );
}
