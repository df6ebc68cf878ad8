// One field of a form: its name, a hint, and its error where it stands.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface ControlProps {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

interface Props {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
  class?: string;
  children: (props: ControlProps) => ComponentChildren;
}

export function Field({ label, hint, error, class: name = "", children }: Props) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class={`field ${name}`}>
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined })}
      {error && (
        <p class="form-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

interface ChoicesProps<Value> {
  name: string;
  choices: { value: Value; label: string; hint?: string }[];
  chosen: Value[];
  /** One of them, or any number. */
  kind: "radio" | "checkbox";
  error?: string | null;
  onChange: (chosen: Value[]) => void;
}

/** Choices that are all in sight, each with its explanation. */
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
              // In the order of the list.
              onChange(choices.map((choice) => choice.value).filter(isChosen));
            }}
          />
          <span>{label}</span>
          {hint && <span class="choice-hint">{hint}</span>}
        </label>
      ))}
      {error && (
        <p class="form-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
