// The filters of the list.

import { Input, Select } from "../../../shared/components/field";
import { unique } from "../../../shared/unique";
import { SearchForm } from "../../components/list";
import { OFFER_TYPES, offers as text, STATE_NAMES, TYPE_NAMES } from "../../messages/offers";
import { useAdvertisers } from "../use-advertisers";
import { type OfferFilter, STATES } from "./filter";

const MAX_TEXT = 200;

interface Props {
  filter: OfferFilter;
  /** The text in the search field. */
  typed: string;
  onType: (text: string) => void;
  onChange: (filter: OfferFilter) => void;
}

export function ListFilters({ filter, typed, onType, onChange }: Props) {
  const { ids, nameOf } = useAdvertisers();
  const advertisers = unique([...ids, filter.advertiser]);
  advertisers.sort((one, other) => nameOf(one).localeCompare(nameOf(other), "en"));
  return (
    <SearchForm name={text.title}>
      <div class="field-row">
        <Input label={text.search} spellcheck={false} maxLength={MAX_TEXT} value={typed} onChange={onType} />
        <Select
          label={text.advertiser}
          any={text.allAdvertisers}
          value={filter.advertiser}
          options={advertisers}
          nameOf={nameOf}
          onChange={(advertiser) => onChange({ ...filter, advertiser })}
        />
        <Select
          label={text.type}
          any={text.allTypes}
          value={filter.type}
          options={OFFER_TYPES}
          nameOf={(type) => TYPE_NAMES[type]}
          onChange={(type) => onChange({ ...filter, type })}
        />
        <Select
          label={text.state}
          any={text.allStates}
          value={filter.state}
          options={STATES}
          nameOf={(state) => STATE_NAMES[state]}
          onChange={(state) => onChange({ ...filter, state })}
        />
      </div>
    </SearchForm>
  );
}
