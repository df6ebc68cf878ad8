// The rewards feed: each reward as it is now, in the order of changes. A copy of it misses nothing, even if callbacks fail.

import { type FeedQuery, feedPages, feedPath } from "./feed.js";
import type { ChangedRewards } from "./generated/types.js";
import { type CallOptions, type Options, Transport } from "./transport.js";

export interface RewardsOptions extends Options {
  /** A key with the scope `ia-rewards.READ`. It has one request in a second, for which the client waits. */
  apiKey: string;
}

export interface RewardsQuery extends FeedQuery {
  /** Rewards of this app alone. */
  app?: string | undefined;
}

export class Rewards {
  readonly #transport: Transport;

  constructor(options: RewardsOptions) {
    this.#transport = new Transport(options, { "X-Api-Key": options.apiKey });
  }

  /** The next changes after a cursor. */
  async page(query: RewardsQuery = {}, { signal }: CallOptions = {}): Promise<ChangedRewards> {
    const { json } = await this.#transport.send({ method: "GET", path: feedPath("/v1/core/rewards", query), signal });
    return json as ChangedRewards;
  }

  /**
   * All changes after a cursor, in pages. Store the rewards of a page by their `transaction_id`, together with its
   * `cursor`: the next run begins there.
   */
  pages(query: RewardsQuery = {}, options: CallOptions = {}): AsyncGenerator<ChangedRewards, void, void> {
    return feedPages((each, given) => this.page(each, given), query, options);
  }
}
