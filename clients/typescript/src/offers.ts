// The offers that an app may show, for the app's backend.

import { DataChanged } from "./errors.js";
import type { ListedOffer, OffersFilter, OffersPage } from "./generated/types.js";
import { type CallOptions, type Options, Transport } from "./transport.js";

export interface OffersOptions extends Options {
  /** The 8 digits of the app. */
  appId: string;
  /** The publisher's Pub-Key, for all of its apps. Keep it in the backend. */
  pubKey: string;
}

export interface OffersQuery {
  /** From 1. */
  page: number;
  /** Offers on a page, at most 1,000. */
  size: number;
  /** An offer passes them all. */
  filters?: OffersFilter[] | undefined;
}

/** A page of offers, and how long it holds. */
export interface ListedPage extends OffersPage {
  /** The version of the page. */
  etag: string | undefined;
  /** When the listing was built, as an HTTP date. Pages with the same value are of one listing. */
  builtAt: string | undefined;
  /** Seconds until the listing is built again: keep the page for that long. */
  maxAge: number;
  /** True if the page has not changed since `previous`. */
  isUnchanged: boolean;
}

/** Beyond this a proxy may refuse the URL, so the filters go into a body, without revalidation. */
const MAX_URL_CHARACTERS = 4000;
const MAX_SIZE = 1000;
const MAX_RESTARTS = 3;

export class Offers {
  readonly #transport: Transport;

  constructor(options: OffersOptions) {
    this.#transport = new Transport(options, { "App-Id": options.appId, "Pub-Key": options.pubKey });
  }

  /** One page. Of a page that has not changed since `previous`, Signpost sends only the headers. */
  async page(
    query: OffersQuery,
    { previous, signal }: CallOptions & { previous?: ListedPage } = {},
  ): Promise<ListedPage> {
    const { page, size, filters = [] } = query;
    const parameters = new URLSearchParams({ page: `${page}`, size: `${size}` });
    if (filters.length > 0) parameters.set("filt", JSON.stringify(filters));
    const path = `/v1/offer/api?${parameters}`;
    const isLong = path.length > MAX_URL_CHARACTERS;
    const { status, headers, json } = await this.#transport.send(
      isLong
        ? {
            method: "POST",
            path: "/v1/offer/api",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ page, size, filt: filters }),
            signal,
          }
        : { method: "GET", path, headers: previous?.etag ? { "If-None-Match": previous.etag } : {}, signal },
    );
    const etag = headers.get("ETag") ?? undefined;
    const isUnchanged = status === 304 || (previous?.etag !== undefined && previous.etag === etag);
    return {
      ...(isUnchanged && previous ? { offers: previous.offers, total: previous.total } : (json as OffersPage)),
      etag,
      builtAt: headers.get("Last-Modified") ?? undefined,
      maxAge: Number(/max-age=([0-9]+)/.exec(headers.get("Cache-Control") ?? "")?.[1] ?? 0),
      isUnchanged,
    };
  }

  /** All offers that pass the filters, of one listing: if another is built meanwhile, it begins again. */
  async all(filters: OffersFilter[] = [], { signal }: CallOptions = {}): Promise<ListedOffer[]> {
    for (let restarts = 0; restarts <= MAX_RESTARTS; restarts += 1) {
      const offers = await this.#allOfOneListing(filters, signal);
      if (offers) return offers;
    }
    throw new DataChanged("the listing changed with each page", { code: "data_changed" });
  }

  async #allOfOneListing(filters: OffersFilter[], signal?: AbortSignal): Promise<ListedOffer[] | undefined> {
    const first = await this.page({ page: 1, size: MAX_SIZE, filters }, { signal });
    const offers = [...first.offers];
    for (let page = 2; offers.length < first.total; page += 1) {
      const next = await this.page({ page, size: MAX_SIZE, filters }, { signal });
      if (next.builtAt !== first.builtAt || next.total !== first.total || next.offers.length === 0) return undefined;
      offers.push(...next.offers);
    }
    return offers;
  }
}
