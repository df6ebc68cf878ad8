// The filter of the list of offers: as the query of the URL, and as the query of the API.

import { oneOf, queryText } from "../../../shared/query-text";
import type { KeptOffer, OfferType } from "../../../shared/generated/openapi";
import { type Sort, sortIn } from "../../components/list";
import { OFFER_TYPES, type OfferState, STATE_NAMES } from "../../messages/offers";

export interface OfferFilter {
  text: string;
  advertiser: string;
  type: OfferType | "";
  state: OfferState | "";
  sort: Sort;
}

export const NO_FILTER: OfferFilter = { text: "", advertiser: "", type: "", state: "", sort: "" };
export const STATES = Object.keys(STATE_NAMES) as OfferState[];

export function parseFilter(search: string): OfferFilter {
  const query = new URLSearchParams(search);
  const value = (name: string) => query.get(name) ?? "";
  return {
    text: value("q"),
    advertiser: value("advertiser"),
    type: oneOf(value("type"), OFFER_TYPES),
    state: oneOf(value("state"), STATES),
    sort: sortIn(query),
  };
}

export const searchOf = ({ text, advertiser, type, state, sort }: OfferFilter) =>
  queryText({ q: text.trim(), advertiser, type, state, sort });

export function stateOf({ active, starts_at, ends_at }: KeptOffer, now: number): OfferState {
  if (!active) return "off";
  if (ends_at != null && now >= ends_at) return "ended";
  return starts_at != null && now < starts_at ? "not_started" : "active";
}

/** The query of the API. */
export const queryOf = ({ text, advertiser, type, state, sort }: OfferFilter) => ({
  q: text.trim(),
  advertiser_id: advertiser,
  off_type: type,
  state,
  // The offers of one advertiser are always sorted by id.
  sort: advertiser ? "" : sort,
});
