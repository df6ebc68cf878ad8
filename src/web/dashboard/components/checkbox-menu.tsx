// A panel of checkboxes, to choose several of a few options. An option that cannot be chosen says why.

import { useId } from "preact/hooks";
import { reports } from "../messages";
import { ChevronDown } from "../../shared/components/icons";
import { Popover } from "../../shared/components/popover";

interface Choice<Value> {
  value: Value;
  label: string;
  hint?: string;
  /** The reason why it cannot be chosen now. */
  blocked?: string;
}

interface Props<Value> {
  name: string;
  choices: Choice<Value>[];
  chosen: Value[];
  onChange: (chosen: Value[]) => void;
}

// More names than this do not fit next to the other controls.
const MAX_NAMES = 2;

export function CheckboxMenu<Value extends string>({ name, choices, chosen, onChange }: Props<Value>) {
  const id = useId();
  const names = choices.filter((choice) => chosen.includes(choice.value)).map((choice) => choice.label);
  const summary =
    names.length > MAX_NAMES
      ? reports.more(names.slice(0, MAX_NAMES).join(", "), names.length - MAX_NAMES)
      : names.join(", ");
  const toggle = (value: Value) => {
    const next = choices
      .map((choice) => choice.value)
      .filter((option) => (option === value ? !chosen.includes(value) : chosen.includes(option)));
    if (next.length > 0) onChange(next);
  };
  // The same reason is shown once, below the first blocked choice that has it. All of these choices refer to it.
  const reasons = [...new Set(choices.flatMap((choice) => choice.blocked ?? []))];
  const reasonId = (reason: string) => `${id}-reason-${reasons.indexOf(reason)}`;
  return (
    <Popover
      name={name}
      label={
        <>
          <span class="button-name">{name}</span> {summary} <ChevronDown />
        </>
      }
    >
      {() => (
        <fieldset class="choices">
          <legend>{name}</legend>
          {choices.map((choice) => {
            const isChosen = chosen.includes(choice.value);
            const isLast = isChosen && chosen.length === 1;
            const described = choice.blocked ? reasonId(choice.blocked) : isLast ? `${id}-last` : undefined;
            return (
              <label key={choice.value} class={choice.blocked ? "choice blocked" : "choice"}>
                <input
                  type="checkbox"
                  checked={isChosen}
                  aria-disabled={choice.blocked !== undefined || isLast}
                  aria-describedby={described}
                  onClick={(event) => {
                    if (choice.blocked || isLast) event.preventDefault();
                  }}
                  onChange={() => {
                    if (!choice.blocked && !isLast) toggle(choice.value);
                  }}
                />
                <span>{choice.label}</span>
                {choice.hint && <span class="choice-hint">{choice.hint}</span>}
              </label>
            );
          })}
          {reasons.map((reason) => (
            <p class="reason" key={reason} id={reasonId(reason)}>
              {reason}
            </p>
          ))}
          {chosen.length === 1 && (
            <p class="reason" id={`${id}-last`}>
              {reports.atLeastOne}
            </p>
          )}
        </fieldset>
      )}
    </Popover>
  );
}
