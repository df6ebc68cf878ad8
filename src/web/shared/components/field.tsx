// One field of a form: its name, a hint, and its error next to the field.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { dateText, isDate, readDate } from "../format";
import { periods } from "../messages/periods";
import { Problem } from "./states";

interface ControlProps {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

interface Props {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
  children: (props: ControlProps) => ComponentChildren;
}

export function Field({ label, hint, error, children }: Props) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined })}
      <Problem id={`${id}-error`}>{error}</Problem>
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

interface Named {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
}

interface Typed extends Named {
  value: string;
  onChange: (value: string) => void;
  class?: "mono";
  spellcheck?: boolean;
}

export interface InputProps extends Typed {
  inputMode?: "numeric" | "decimal" | "url";
  required?: boolean;
  maxLength?: number;
  pattern?: string;
  list?: string;
  "data-first"?: boolean;
  onBlur?: () => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}

export const Input = ({ label, hint, error, onChange, ...own }: InputProps) => (
  <Field label={label} hint={hint} error={error}>
    {(props) => (
      <input
        type="text"
        autocomplete="off"
        {...own}
        {...props}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    )}
  </Field>
);

/** A date as the pages show it. `value` is a date in ISO format, or typed text that is not a date. */
export function DateInput({ value, error, onChange, ...own }: InputProps) {
  // Until the field is left, it keeps what is typed.
  const [typed, setTyped] = useState<string | null>(null);
  const end = () => setTyped(null);
  const isUnread = typed === null && value !== "" && !isDate(value);
  return (
    <Input
      {...own}
      error={isUnread ? periods.unreadable(value) : error}
      value={typed ?? (isDate(value) ? dateText(value) : value)}
      onChange={(text) => {
        setTyped(text);
        onChange(readDate(text));
      }}
      onBlur={end}
      onKeyDown={(event) => event.key === "Enter" && end()}
    />
  );
}

export const Area = ({ label, hint, error, onChange, ...own }: Typed & { rows: number }) => (
  <Field label={label} hint={hint} error={error}>
    {(props) => <textarea {...own} {...props} onInput={(event) => onChange(event.currentTarget.value)} />}
  </Field>
);

interface OptionsProps<Value extends string> {
  options: readonly Exclude<Value, "">[];
  nameOf: (value: Exclude<Value, "">) => string;
  /** The name of the empty value, if it is a choice. */
  any?: string;
  isDisabled?: (value: Exclude<Value, "">) => boolean;
}

export const Options = <Value extends string>({ options, nameOf, any, isDisabled }: OptionsProps<Value>) => (
  <>
    {any !== undefined && <option value="">{any}</option>}
    {options.map((option) => (
      <option key={option} value={option} disabled={isDisabled?.(option)}>
        {nameOf(option)}
      </option>
    ))}
  </>
);

interface InlineSelectProps<Value extends string> extends OptionsProps<Value> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
}

type SelectProps<Value extends string> = InlineSelectProps<Value> & Named;

export const Select = <Value extends string>(props: SelectProps<Value>) => {
  const { label, hint, error, value, onChange, ...choices } = props;
  return (
    <Field label={label} hint={hint} error={error}>
      {(props) => (
        <select {...props} value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
          <Options {...choices} />
        </select>
      )}
    </Field>
  );
};

/** One choice out of a list, next to its name. */
export const InlineSelect = <Value extends string>(props: InlineSelectProps<Value>) => {
  const { label, value, onChange, ...choices } = props;
  return (
    <label class="inline-field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        <Options {...choices} />
      </select>
    </label>
  );
};

interface CheckboxProps {
  class?: "check" | "choice";
  checked: boolean;
  onChange: (isChecked: boolean) => void;
  children: ComponentChildren;
}

export const Checkbox = ({ class: name = "check", checked, onChange, children }: CheckboxProps) => (
  <label class={name}>
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    {children}
  </label>
);
