// Choices that are all in sight.

import { useId } from "preact/hooks";
import { Problem } from "./states";

interface ChoicesProps<Value> {
  name: string;
  choices: { value: Value; label: string; hint?: string }[];
  chosen: Value[];
  /** `radio` for exactly one choice, `checkbox` for any number. */
  kind: "radio" | "checkbox";
  error?: string | null;
  onChange: (chosen: Value[]) => void;
}

export function Choices<Value extends string>({ name, choices, chosen, kind, error, onChange }: ChoicesProps<Value>) {
  const id = useId();
  return (
    <fieldset class="choices explained" aria-describedby={error ? `${id}-error` : undefined}>
      <legend>{name}</legend>
      {choices.map(({ value, label, hint }) => (
        <label class="choice" key={value}>
          <input
            type={kind}
            name={kind === "radio" ? id : undefined}
            checked={chosen.includes(value)}
            onChange={(event) => {
              if (kind === "radio") return onChange([value]);
              const isOn = event.currentTarget.checked;
              const isChosen = (other: Value) => (other === value ? isOn : chosen.includes(other));
              // Keep the order of the list.
              onChange(choices.map((choice) => choice.value).filter(isChosen));
            }}
          />
          <span>{label}</span>
          {hint && <span class="choice-hint">{hint}</span>}
        </label>
      ))}
      <Problem id={`${id}-error`}>{error}</Problem>
    </fieldset>
  );
}
