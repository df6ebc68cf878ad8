// The fields of the editor.

import { Input, type InputProps } from "../../../shared/components/field";
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

interface TextOfProps extends Omit<InputProps, "value" | "error" | "onChange"> {
  state: EditorState;
  name: keyof Texts;
  /** The path of the API's field, where it has another name. */
  path?: string;
  isMono?: boolean;
  mode?: InputProps["inputMode"];
}

/** A field of the offer that is a line of text. */
export const TextOf = ({ state, name, path = name, isMono, mode, ...props }: TextOfProps) => (
  <Input
    {...props}
    class={isMono ? "mono" : undefined}
    inputMode={mode}
    spellcheck={false}
    step={props.type && 1}
    error={state.problem(path)}
    value={state.draft[name]}
    onChange={(value) => state.set({ [name]: value })}
  />
);

/** Countries by code, with their names below as they are typed. */
export function CountriesOf(props: TextOfProps & { name: "include" | "exclude" }) {
  const { state, name } = props;
  const codes = codesOf(state.draft[name]);
  return (
    <div>
      <TextOf {...props} path={`geo_tgt.${name}`} isMono />
      {codes.length > 0 && <p class="note country-names">{codes.map(countryName).join(", ")}</p>}
    </div>
  );
}
