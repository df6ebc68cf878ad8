// A feed that is read in pages by a cursor.

import type { CallOptions } from "./transport.js";

export interface FeedQuery {
  /** The `cursor` of an answer before. Everything, without it. */
  after?: string | undefined;
  /** Entries in an answer, at most 1,000. */
  limit?: number | undefined;
}

export interface FeedPage {
  cursor: string;
  has_more: boolean;
}

export function feedPath(path: string, query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, `${value}`);
  return `${path}?${parameters}`;
}

/** The pages of a feed, until there is no more to read at once. */
export async function* feedPages<Query extends FeedQuery, Page extends FeedPage>(
  ask: (query: Query, options: CallOptions) => Promise<Page>,
  query: Query,
  options: CallOptions,
): AsyncGenerator<Page, void, void> {
  let after = query.after;
  for (;;) {
    const page = await ask({ limit: 1000, ...query, after }, options);
    yield page;
    if (!page.has_more) return;
    after = page.cursor;
  }
}
