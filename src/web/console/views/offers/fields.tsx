// The kinds of fields that the editor has.

import { Field } from "../../../shared/components/field";
import { countryName } from "../../../shared/format";
import { codesOf, type OfferDraft } from "./draft";

type Texts = { [Name in keyof OfferDraft as OfferDraft[Name] extends string ? Name : never]: string };

/** What is typed, what is wrong with it, and how it is changed. */
export interface EditorState {
  draft: OfferDraft;
  isReadOnly: boolean;
  problem: (path: string) => string | null;
  set: (change: Partial<OfferDraft>) => void;
}

interface InputProps {
  label: string;
  hint?: string;
  error: string | null;
  value: string;
  type?: "text" | "datetime-local";
  mode?: "numeric" | "decimal" | "url";
  list?: string;
  isMono?: boolean;
  onChange: (value: string) => void;
}

export const Input = ({ label, hint, error, value, type = "text", mode, list, isMono, onChange }: InputProps) => (
  <Field label={label} hint={hint} error={error}>
    {(props) => (
      <input
        {...props}
        type={type}
        step={type === "text" ? undefined : 1}
        inputMode={mode}
        list={list}
        class={isMono ? "mono" : undefined}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    )}
  </Field>
);

interface AreaProps {
  label: string;
  hint?: string;
  error: string | null;
  rows: number;
  value: string;
  onChange: (value: string) => void;
}

export const Area = ({ label, hint, error, rows, value, onChange }: AreaProps) => (
  <Field label={label} hint={hint} error={error}>
    {(props) => (
      <textarea {...props} rows={rows} value={value} onInput={(event) => onChange(event.currentTarget.value)} />
    )}
  </Field>
);

interface SelectProps<Value extends string> {
  label: string;
  hint?: string;
  error: string | null;
  value: Value;
  options: readonly Value[];
  nameOf: (value: Value) => string;
  onChange: (value: Value) => void;
}

export const Select = <Value extends string>({
  label,
  hint,
  error,
  value,
  options,
  nameOf,
  onChange,
}: SelectProps<Value>) => (
  <Field label={label} hint={hint} error={error}>
    {(props) => (
      <select {...props} value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {nameOf(option)}
          </option>
        ))}
      </select>
    )}
  </Field>
);

interface TextOfProps extends Omit<InputProps, "value" | "error" | "onChange"> {
  state: EditorState;
  name: keyof Texts;
  /** The path of the API's field, where it has another name. */
  path?: string;
}

/** A field of the offer that is a line of text. */
export const TextOf = ({ state, name, path = name, ...props }: TextOfProps) => (
  <Input
    {...props}
    error={state.problem(path)}
    value={state.draft[name]}
    onChange={(value) => state.set({ [name]: value })}
  />
);

/** Countries by code, with their names below as they are typed. */
export function CountriesOf({
  state,
  name,
  label,
  hint,
}: {
  state: EditorState;
  name: "include" | "exclude";
  label: string;
  hint: string;
}) {
  const codes = codesOf(state.draft[name]);
  return (
    <div>
      <TextOf state={state} name={name} path={`geo_tgt.${name}`} label={label} hint={hint} isMono />
      {codes.length > 0 && <p class="note country-names">{codes.map(countryName).join(", ")}</p>}
    </div>
  );
}
