// The fields of the editor.

import { Input, type InputProps } from "../../../shared/components/field";
import { countryName } from "../../../shared/format";
import { codesOf, type OfferDraft, type TextName } from "./draft";

/** The typed values, their problems, and functions that change them. */
export interface EditorState {
  draft: OfferDraft;
  isReadOnly: boolean;
  problem: (path: string) => string | null;
  set: (change: Partial<OfferDraft>) => void;
}

interface TextOfProps extends Omit<InputProps, "value" | "error" | "onChange"> {
  state: EditorState;
  name: TextName;
  isMono?: boolean;
  mode?: InputProps["inputMode"];
}

/** The paths of the API's fields that have other names than the draft's. */
const PATHS: Partial<Record<TextName, string>> = {
  click_cap: "click_cap.lim",
  conversion_cap: "conversion_cap.lim",
  include: "geo_tgt.include",
  exclude: "geo_tgt.exclude",
};

/** A field of the offer that is a line of text. */
export const TextOf = ({ state, name, isMono, mode, ...props }: TextOfProps) => (
  <Input
    {...props}
    class={isMono ? "mono" : undefined}
    inputMode={mode}
    spellcheck={false}
    error={state.problem(PATHS[name] ?? name)}
    value={state.draft[name]}
    onChange={(value) => state.set({ [name]: value })}
  />
);

/** A field for countries by code. The names of the typed codes appear below it. */
export function CountriesOf(props: TextOfProps & { name: "include" | "exclude" }) {
  const { state, name } = props;
  const codes = codesOf(state.draft[name]);
  return (
    <div>
      <TextOf {...props} isMono />
      {codes.length > 0 && <p class="note country-names">{codes.map(countryName).join(", ")}</p>}
    </div>
  );
}
