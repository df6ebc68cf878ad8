// The parts of the editor other than the goals.

import { useId } from "preact/hooks";
import { Area, Checkbox, Options, Select } from "../../../shared/components/field";
import { Card } from "../../../shared/components/part";
import { PLATFORM_NAMES } from "../../../shared/messages/apps";
import { editor as text } from "../../messages/offer-editor";
import { CATEGORIES, CATEGORY_NAMES, OFFER_TYPES, ONCE_PER_NAMES, TYPE_NAMES } from "../../messages/offers";
import { PLATFORMS } from "../../types/offers";
import { useAdvertisers } from "../use-advertisers";
import { CountriesOf, type EditorState, TextOf } from "./fields";

export function General({ state }: { state: EditorState }) {
  const { draft, problem, set } = state;
  return (
    <Card title={text.general}>
      <div class="field-row">
        <TextOf state={state} name="name" label={text.name} />
        <Advertiser state={state} />
      </div>
      <div class="field-row">
        <Select
          label={text.type}
          error={problem("off_type")}
          value={draft.off_type}
          options={OFFER_TYPES}
          nameOf={(type) => TYPE_NAMES[type]}
          onChange={(off_type) => set({ off_type })}
        />
        <Select
          label={text.os}
          error={problem("os")}
          value={draft.os}
          options={PLATFORMS}
          nameOf={(os) => PLATFORM_NAMES[os]}
          onChange={(os) => set({ os })}
        />
        <TextOf state={state} name="s_id" label={text.appId} hint={text.appIdHint} isMono />
      </div>
      <TextOf state={state} name="ic_url" label={text.icon} mode="url" isMono />
      <Categories state={state} />
      <Area
        label={text.description}
        hint={text.descriptionHint}
        rows={4}
        error={problem("desc")}
        value={draft.desc}
        onChange={(desc) => set({ desc })}
      />
      <Checkbox checked={draft.active} onChange={(active) => set({ active })}>
        {text.active}
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
        label={text.advertiserId}
        hint={isUnknown ? text.advertiserUnknown : name !== typed ? name : undefined}
        list={id}
        isMono
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
      <legend>{text.categories}</legend>
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
    <TextOf state={state} name="lp_url" label={text.landing} hint={text.landingHint} mode="url" isMono />
    <TextOf state={state} name="target_url" label={text.target} hint={text.targetHint} mode="url" isMono />
    <div class="short-field">
      <TextOf state={state} name="click_id_max" label={text.clickIdMax} hint={text.clickIdMaxHint} mode="numeric" />
    </div>
  </Card>
);

export const Targeting = ({ state }: { state: EditorState }) => (
  <Card title={text.targeting}>
    <div class="field-row">
      <CountriesOf state={state} name="include" label={text.include} hint={text.includeHint} />
      <CountriesOf state={state} name="exclude" label={text.exclude} hint={text.excludeHint} />
    </div>
  </Card>
);

export const Limits = ({ state }: { state: EditorState }) => (
  <Card title={text.limits}>
    <div class="field-row">
      <TextOf state={state} name="click_cap" label={text.clickCap} hint={text.capHint} mode="numeric" />
      <TextOf state={state} name="conversion_cap" label={text.conversionCap} hint={text.capHint} mode="numeric" />
      <TextOf state={state} name="starts_at" label={text.startsAt} hint={text.startHint} />
      <TextOf state={state} name="ends_at" label={text.endsAt} hint={text.endHint} />
    </div>
  </Card>
);

export function Rules({ state }: { state: EditorState }) {
  return (
    <Card title={text.rules}>
      <div class="field-row">
        <TextOf state={state} name="conversion_window_days" label={text.window} hint={text.windowHint} mode="numeric" />
        <Select
          label={text.oncePer}
          error={state.problem("once_per")}
          value={state.draft.once_per || "user"}
          options={["user", "click"] as const}
          nameOf={(name) => ONCE_PER_NAMES[name]}
          onChange={(once_per) => state.set({ once_per })}
        />
        <TextOf
          state={state}
          name="min_seconds_to_convert"
          label={text.minSeconds}
          hint={text.minSecondsHint}
          mode="numeric"
        />
        <TextOf state={state} name="terms_since" label={text.termsSince} hint={text.termsSinceHint} />
      </div>
    </Card>
  );
}
