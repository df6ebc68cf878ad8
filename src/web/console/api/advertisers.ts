// The operator's calls for advertisers.

import { get, getTagged, id, post, putTagged, remove, type Tagged } from "../../shared/client";
import { queryText } from "../../shared/query-text";
import type { Advertiser, AdvertiserPage, NewToken, PostbackCheck, PostbackPage } from "../types/advertisers";
import { ask, OPERATOR } from "./operator";

const advertiser = (advertiserId: string) => `${OPERATOR}/advertisers/${id(advertiserId)}`;

export const advertisersApi = {
  /** The advertisers whose ID or name contains the text. */
  list: (cursor: string | null, limit: number, text = "", sort = "") =>
    get<AdvertiserPage>(`${OPERATOR}/advertisers${queryText({ q: text, sort, limit, cursor })}`),
  read: (advertiserId: string) => getTagged<Advertiser>(advertiser(advertiserId)),
  /** Refused with 412 if an advertiser with this ID exists. */
  create: (advertiserId: string, name: string) => putTagged<Advertiser>(advertiser(advertiserId), { name }, null),
  /** Refused with 412 if the advertiser has changed since it was read. */
  rename: (seen: Tagged<Advertiser>, name: string) =>
    putTagged<Advertiser>(advertiser(seen.advertiser_id), { name }, seen),
  issueToken: (advertiserId: string) => post<NewToken>(`${advertiser(advertiserId)}/token`),
  revokeToken: (advertiserId: string, tokenId: string) => remove(`${advertiser(advertiserId)}/token/${id(tokenId)}`),
  /** The postbacks of an advertiser, or the refused ones of all. */
  postbacks: (advertiserId: string | null, code: string, cursor: string | null, isPoll = false) => {
    const path = advertiserId === null ? `${OPERATOR}/refused_postbacks` : `${advertiser(advertiserId)}/postbacks`;
    return ask<PostbackPage>(path + queryText({ limit: 50, cursor, code }), isPoll);
  },
  checkPostback: (url: string) => post<PostbackCheck>(`${OPERATOR}/postback_check`, { url }),
};
