// The conversions that an advertiser, or its partner, reports.

import type { Conversion, PostbackStatus } from "./generated/types.js";
import { type CallOptions, type Options, Transport } from "./transport.js";

export interface ConversionsOptions extends Options {
  /** The advertiser's token. */
  token: string;
}

export interface ConversionReport {
  /** The click id from the landing URL, unchanged. */
  clickId: string;
  /** A goal's id or event code (`gl_val`). Without it the offer's first goal is paid. */
  goal?: string | null | undefined;
  /** Your own id of the conversion, at most 128 bytes. */
  txn?: string | undefined;
  /** `approved` without it. */
  status?: PostbackStatus | undefined;
  /** Why, in words, for the publisher. */
  reason?: string | undefined;
}

export class Conversions {
  readonly #transport: Transport;
  readonly #token: string;

  constructor(options: ConversionsOptions) {
    this.#transport = new Transport(options);
    this.#token = options.token;
  }

  /**
   * Reports a conversion; the answer comes after the commit. It is repeated until it is answered: a click pays each goal
   * once, and a repeat is answered with `duplicate: true`. Throws ConversionRefused if it is not paid.
   */
  async report(conversion: ConversionReport, { signal }: CallOptions = {}): Promise<Conversion> {
    const { clickId, goal, txn, status, reason } = conversion;
    // In a form, so that no log of URLs has the token.
    const form = new URLSearchParams({ token: this.#token, click_id: clickId });
    for (const [name, value] of Object.entries({ goal, txn, status, reason })) if (value) form.set(name, value);
    const { json } = await this.#transport.send({
      method: "POST",
      path: "/v2/tracking/conversion",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: `${form}`,
      signal,
    });
    return json as Conversion;
  }
}
