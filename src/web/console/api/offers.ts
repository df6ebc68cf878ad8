// The operator's calls for offers.

import { call, get, getTagged, id, post, putTagged, type Tagged } from "../../shared/client";
import { queryText } from "../../shared/query-text";
import type {
  FiguresOfMany,
  KeptOffer,
  NearCaps,
  Offer,
  OfferPage,
  Preview,
  TermsHistory,
  WouldImport,
} from "../types/offers";
import { OPERATOR } from "./operator";

const NDJSON = { "Content-Type": "application/x-ndjson" };

const offer = (offerId: string) => `${OPERATOR}/offers/${id(offerId)}`;

/** The conditions of a list. An empty condition matches every offer. */
export interface OfferQuery {
  q?: string;
  advertiser_id?: string;
  off_type?: string;
  state?: string;
  sort?: string;
}

export const offersApi = {
  list: (cursor: string | null, limit: number, filter: OfferQuery) =>
    get<OfferPage>(`${OPERATOR}/offers${queryText({ ...filter, limit, cursor })}`),
  read: (offerId: string) => getTagged<KeptOffer>(offer(offerId)),
  /** Refused with 412 if the offer has changed since it was read, or if `seen` is null and the offer exists. */
  write: (offerId: string, seen: Tagged<KeptOffer> | null, document: Offer) =>
    putTagged<KeptOffer>(offer(offerId), document, seen),
  terms: (offerId: string) => get<TermsHistory>(`${offer(offerId)}/terms`),
  figuresOf: (offer_ids: string[]) => post<FiguresOfMany>(`${OPERATOR}/offer_figures`, { offer_ids }),
  nearCaps: () => get<NearCaps>(`${OPERATOR}/caps`),
  preview: (offerId: string, document: Offer) => post<Preview>(`${offer(offerId)}/preview`, document),
  countImport: (lines: string) => call<WouldImport>("POST", `${OPERATOR}/import?dry_run=true`, lines, NDJSON),
  import: (lines: string) => call<{ imported: number }>("POST", `${OPERATOR}/import`, lines, NDJSON),
};
