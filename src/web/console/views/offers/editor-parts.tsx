// The parts of the editor other than the goals.

import { useId } from "preact/hooks";
import { Area, Checkbox, Options } from "../../../shared/components/field";
import { Card } from "../../../shared/components/part";
import { editor as text, fields } from "../../messages/offer-editor";
import { CATEGORIES, CATEGORY_NAMES } from "../../messages/offers";
import { useAdvertisers } from "../use-advertisers";
import { ChoiceOf, CountriesOf, type EditorState, TextOf } from "./fields";

export function General({ state }: { state: EditorState }) {
  const { draft, problem, set } = state;
  return (
    <Card title={text.general}>
      <div class="field-row">
        <TextOf state={state} name="name" />
        <Advertiser state={state} />
      </div>
      <div class="field-row">
        <ChoiceOf state={state} name="off_type" />
        <ChoiceOf state={state} name="os" />
        <TextOf state={state} name="s_id" />
      </div>
      <TextOf state={state} name="ic_url" />
      <Categories state={state} />
      <Area {...fields.desc} rows={4} error={problem("desc")} value={draft.desc} onChange={(desc) => set({ desc })} />
      <Checkbox checked={draft.active} onChange={(active) => set({ active })}>
        {fields.active.label}
      </Checkbox>
      <p class="note">{text.activeHint}</p>
    </Card>
  );
}

/** The advertiser's ID, with the names as suggestions, because there may be hundreds of advertisers. */
function Advertiser({ state }: { state: EditorState }) {
  const { ids, isWhole, nameOf } = useAdvertisers();
  const id = useId();
  const typed = state.draft.advertiser_id;
  const name = nameOf(typed);
  const isUnknown = isWhole && typed !== "" && !ids.includes(typed);
  return (
    <div>
      <TextOf
        state={state}
        name="advertiser_id"
        hint={isUnknown ? text.advertiserUnknown : name !== typed ? name : undefined}
        list={id}
      />
      <datalist id={id}>
        <Options options={ids} nameOf={nameOf} />
      </datalist>
    </div>
  );
}

function Categories({ state }: { state: EditorState }) {
  const { ctg } = state.draft;
  return (
    <fieldset class="check-row">
      <legend>{fields.ctg.label}</legend>
      {CATEGORIES.map((category) => (
        <Checkbox
          key={category}
          checked={ctg.includes(category)}
          onChange={(isOn) => state.set({ ctg: isOn ? [...ctg, category] : ctg.filter((other) => other !== category) })}
        >
          {CATEGORY_NAMES[category]}
        </Checkbox>
      ))}
    </fieldset>
  );
}

export const Links = ({ state }: { state: EditorState }) => (
  <Card title={text.links}>
    <TextOf state={state} name="lp_url" />
    <TextOf state={state} name="target_url" />
    <div class="short-field">
      <TextOf state={state} name="click_id_max" />
    </div>
  </Card>
);

export const Targeting = ({ state }: { state: EditorState }) => (
  <Card title={text.targeting}>
    <div class="field-row">
      <CountriesOf state={state} name="include" />
      <CountriesOf state={state} name="exclude" />
    </div>
  </Card>
);

export const Limits = ({ state }: { state: EditorState }) => (
  <Card title={text.limits}>
    <div class="field-row">
      <TextOf state={state} name="click_cap" />
      <TextOf state={state} name="conversion_cap" />
      <TextOf state={state} name="starts_at" />
      <TextOf state={state} name="ends_at" />
    </div>
  </Card>
);

export const Rules = ({ state }: { state: EditorState }) => (
  <Card title={text.rules}>
    <div class="field-row">
      <TextOf state={state} name="conversion_window_days" />
      <ChoiceOf state={state} name="once_per" />
      <TextOf state={state} name="min_seconds_to_convert" />
      <TextOf state={state} name="terms_since" />
    </div>
  </Card>
);
