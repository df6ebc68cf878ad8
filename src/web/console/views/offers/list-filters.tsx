// The filters of the list.

import { Field } from "../../../shared/components/field";
import { offers as text, STATE_NAMES, TYPE_NAMES } from "../../messages/offers";
import { OFFER_TYPES } from "../../types/offers";
import { useAdvertisers } from "../use-advertisers";
import { type OfferFilter, STATES } from "./filter";

const LONGEST_TEXT = 200;

interface Props {
  filter: OfferFilter;
  /** What stands in the field of its text. */
  typed: string;
  onType: (text: string) => void;
  onChange: (filter: OfferFilter) => void;
}

interface ChoiceProps {
  label: string;
  all: string;
  value: string;
  options: { value: string; label: string }[];
  onChange: (value: string) => void;
}

const Choice = ({ label, all, value, options, onChange }: ChoiceProps) => (
  <Field label={label}>
    {(props) => (
      <select {...props} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{all}</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export function ListFilters({ filter, typed, onType, onChange }: Props) {
  const { list } = useAdvertisers();
  const advertisers = list.map(({ advertiser_id: value, name: label }) => ({ value, label }));
  const isListed = advertisers.some(({ value }) => value === filter.advertiser);
  if (filter.advertiser && !isListed) advertisers.push({ value: filter.advertiser, label: filter.advertiser });
  advertisers.sort((one, other) => one.label.localeCompare(other.label, "en"));
  return (
    <form
      class="card padded list-filters"
      role="search"
      aria-label={text.title}
      onSubmit={(event) => event.preventDefault()}
    >
      <div class="field-row">
        <Field label={text.search}>
          {(props) => (
            <input
              {...props}
              type="text"
              autocomplete="off"
              spellcheck={false}
              maxLength={LONGEST_TEXT}
              value={typed}
              onInput={(event) => onType(event.currentTarget.value)}
            />
          )}
        </Field>
        <Choice
          label={text.advertiser}
          all={text.allAdvertisers}
          value={filter.advertiser}
          options={advertisers}
          onChange={(advertiser) => onChange({ ...filter, advertiser })}
        />
        <Choice
          label={text.type}
          all={text.allTypes}
          value={filter.type}
          options={OFFER_TYPES.map((value) => ({ value, label: TYPE_NAMES[value] }))}
          onChange={(type) => onChange({ ...filter, type })}
        />
        <Choice
          label={text.state}
          all={text.allStates}
          value={filter.state}
          options={STATES.map((value) => ({ value, label: STATE_NAMES[value] }))}
          onChange={(state) => onChange({ ...filter, state: state as OfferFilter["state"] })}
        />
      </div>
    </form>
  );
}
