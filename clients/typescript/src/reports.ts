// Sums of facts, and the changes of days that were final.

import { DataChanged } from "./errors.js";
import { type FeedQuery, feedPages, feedPath } from "./feed.js";
import type { DayChanges, Report, ReportQuery, ReportRow } from "./generated/types.js";
import { type CallOptions, type Options, Transport } from "./transport.js";

export interface ReportsOptions extends Options {
  /** A key with the scope `ia-reporting.READ`. It has one request in 2 seconds, for which the client waits. */
  apiKey: string;
}

/** A page of a report. */
export interface ReportPage {
  /** None if no fact matches, or past the last page. A metric that is 0 is left out of a row. */
  rows: ReportRow[];
  /** Rows on all pages. */
  total: number;
  page: number;
  pageSize: number;
  /** The version of the facts of these days. */
  version: string | undefined;
  /** Up to when there is data, in RFC 3339. */
  dataThrough: string | undefined;
  /** The last day up to which all days are final. */
  finalThrough: string | undefined;
}

const PATH = "/v1/core/reporting/public/signal/report";
const MAX_RESTARTS = 3;

export class Reports {
  readonly #transport: Transport;

  constructor(options: ReportsOptions) {
    this.#transport = new Transport(options, { "X-Api-Key": options.apiKey });
  }

  /** One page. With the `version` of another page it is of that version, or DataChanged is thrown. */
  async page(
    query: ReportQuery,
    { version, signal }: CallOptions & { version?: string | undefined } = {},
  ): Promise<ReportPage> {
    const { headers, json } = await this.#transport.send({
      method: "POST",
      path: `${PATH}/generate`,
      headers: { "Content-Type": "application/json", ...(version && { "If-Match": version }) },
      body: JSON.stringify(query),
      signal,
    });
    const number = (name: string) => Number(headers.get(name) ?? 0);
    return {
      // 204, without a body, says that no fact matches.
      rows: (json as Report | undefined)?.rows ?? [],
      total: number("X-Total-Count"),
      page: number("X-Page"),
      pageSize: number("X-Page-Size"),
      version: headers.get("ETag") ?? undefined,
      dataThrough: headers.get("X-Data-Through") ?? undefined,
      finalThrough: headers.get("X-Final-Through") ?? undefined,
    };
  }

  /** All pages, of one version. Throws DataChanged if the facts change meanwhile: drop what was read and begin again. */
  async *pages(query: ReportQuery, { signal }: CallOptions = {}): AsyncGenerator<ReportPage, void, void> {
    let version: string | undefined;
    for (let page = 1; ; page += 1) {
      const read = await this.page({ ...query, pagination: { ...query.pagination, page } }, { version, signal });
      yield read;
      if (read.rows.length === 0 || page * read.pageSize >= read.total) return;
      version = read.version;
    }
  }

  /** All rows one after the other, of one version. Throws DataChanged as `pages` does. */
  async *rows(query: ReportQuery, options: CallOptions = {}): AsyncGenerator<ReportRow, void, void> {
    for await (const page of this.pages(query, options)) yield* page.rows;
  }

  /** All rows at once. If the facts change meanwhile it begins again, up to 3 times, and then throws DataChanged. */
  async all(query: ReportQuery, options: CallOptions = {}): Promise<ReportRow[]> {
    for (let restarts = 0; ; restarts += 1) {
      try {
        const rows: ReportRow[] = [];
        for await (const row of this.rows(query, options)) rows.push(row);
        return rows;
      } catch (error) {
        if (!(error instanceof DataChanged) || restarts >= MAX_RESTARTS) throw error;
      }
    }
  }

  /** The next changes of final days after a cursor. */
  async changes(query: FeedQuery = {}, { signal }: CallOptions = {}): Promise<DayChanges> {
    const { json } = await this.#transport.send({ method: "GET", path: feedPath(`${PATH}/changes`, query), signal });
    return json as DayChanges;
  }

  /** All changes of final days after a cursor, in pages. */
  changePages(query: FeedQuery = {}, options: CallOptions = {}): AsyncGenerator<DayChanges, void, void> {
    return feedPages((each, given) => this.changes(each, given), query, options);
  }
}
