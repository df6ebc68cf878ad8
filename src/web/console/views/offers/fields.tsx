// The fields of the editor.

import { Input, type InputProps, Select } from "../../../shared/components/field";
import { countryName } from "../../../shared/format";
import { fields } from "../../messages/offer-editor";
import type { OfferDraft } from "./draft";
import { codesOf, FIELDS, type TextName } from "./offer-fields";

/** The typed values, their problems, and functions that change them. */
export interface EditorState {
  draft: OfferDraft;
  isReadOnly: boolean;
  problem: (path: string) => string | null;
  set: (change: Partial<OfferDraft>) => void;
}

interface FieldProps<Name> {
  state: EditorState;
  name: Name;
}

/** A field of the offer that is a line of text. */
export function TextOf({ state, name, ...props }: FieldProps<TextName> & Pick<InputProps, "hint" | "list">) {
  const { path = name, input }: { path?: string; input?: object } = FIELDS[name];
  return (
    <Input
      {...fields[name]}
      {...input}
      {...props}
      spellcheck={false}
      error={state.problem(path)}
      value={state.draft[name]}
      onChange={(value) => state.set({ [name]: value })}
    />
  );
}

/** A field for countries by code. The names of the typed codes appear below it. */
export function CountriesOf(props: FieldProps<"include" | "exclude">) {
  const codes = codesOf(props.state.draft[props.name]);
  return (
    <div>
      <TextOf {...props} />
      {codes.length > 0 && <p class="note country-names">{codes.map(countryName).join(", ")}</p>}
    </div>
  );
}

/** A field that is one choice out of a list, the first if none was made. */
export function ChoiceOf({ state, name }: FieldProps<"off_type" | "os" | "once_per">) {
  const { names, options }: { names: Record<string, string>; options: string[] } = FIELDS[name];
  return (
    <Select
      label={fields[name].label}
      error={state.problem(name)}
      value={state.draft[name] || options[0]!}
      options={options}
      nameOf={(value) => names[value]!}
      onChange={(value) => state.set({ [name]: value })}
    />
  );
}
