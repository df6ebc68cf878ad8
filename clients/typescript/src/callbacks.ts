// A receiver of callbacks: it verifies each, reads its event, and has the caller's store take each event once.

import { InvalidCallback, InvalidParameter } from "./errors.js";
import type { CallbackEvent, PendingEvent, ReversedEvent } from "./generated/types.js";
import { type CallbackHeaders, header, secretKey, verifyCallback } from "./signatures.js";

/** Where events are kept, such as a table of the publisher's database. */
export interface CallbackStore {
  /**
   * Inserts the event under its `transaction_id`, in a column that is unique, and pays it in the same transaction. Answers
   * false, and pays nothing, if the id is there already. Two calls with one id may overlap.
   */
  add(event: CallbackEvent): Promise<boolean> | boolean;
}

/** Keeps events in memory, for tests: it forgets them when the process ends. */
export class MemoryStore implements CallbackStore {
  readonly events = new Map<string, CallbackEvent>();

  add(event: CallbackEvent): boolean {
    const isNew = !this.events.has(event.transaction_id);
    if (isNew) this.events.set(event.transaction_id, event);
    return isNew;
  }
}

export interface CallbacksOptions {
  /** The app's secret; while it rotates the new one and the old one. */
  secrets: readonly string[];
  store: CallbackStore;
  /** Seconds that a callback's time may be before or after the clock. 300 without it. */
  tolerance?: number | undefined;
}

/** A request in a server that has no Request, such as `node:http`. */
export interface PlainRequest {
  /** The URL or its path, with the query as it came. */
  url: string;
  headers: CallbackHeaders;
  /** The body of a POST as it came. */
  body?: string | Uint8Array | undefined;
}

export interface Received {
  event: CallbackEvent;
  /** True if the store took the event now. Each `transaction_id` is new once. */
  isNew: boolean;
  /** True for a test from the dashboard, which pays nothing and is not handed to the store. */
  isTest: boolean;
}

/** How a field is read from a query, where everything is a text. */
const FIELDS = {
  user_id: "text",
  value: "number",
  payout: "number",
  currency: "text",
  transaction_id: "text",
  offer_id: "text",
  goal_id: "text",
  app_id: "text",
  click_ts: "number",
  conversion_ts: "number",
  status: "text",
  goal_value: "text",
  gaid: "text",
  idfa: "text",
  c1: "text",
  c2: "text",
  c3: "text",
  c4: "text",
  c5: "text",
  country: "text",
  reason: "text",
  token: "text",
  signature: "text",
  original_transaction_id: "text",
  pending_value: "number",
} as const satisfies Record<keyof ReversedEvent | keyof PendingEvent, "text" | "number">;
const REQUIRED = Object.keys(FIELDS).slice(0, Object.keys(FIELDS).indexOf("goal_value"));
const STATUSES = ["approved", "reversed", "pending", "rejected"];

export class Callbacks {
  readonly #options: CallbacksOptions;

  constructor(options: CallbacksOptions) {
    if (options.secrets.length === 0) throw new InvalidParameter("secrets must not be empty");
    // A wrong secret is found here and not with the first callback.
    options.secrets.forEach(secretKey);
    this.#options = options;
  }

  /** Verifies a callback and hands its event to the store. Throws InvalidCallback, or what the store throws. */
  async receive(request: Request | PlainRequest): Promise<Received> {
    const { secrets, store, tolerance } = this.#options;
    const { url, headers } = request;
    const body = "arrayBuffer" in request ? new Uint8Array(await request.arrayBuffer()) : request.body;
    const isPost = body !== undefined && body.length > 0;
    const query = /\?([^#]*)/.exec(url)?.[1] ?? "";
    await verifyCallback(secrets, headers, isPost ? body : query, { tolerance });
    const event = eventOf(isPost ? fromJson(body) : fromQuery(query));
    if (event.transaction_id !== header(headers, "webhook-id")) throw malformed("transaction_id is not webhook-id");
    const isTest = event.transaction_id.startsWith("test-");
    return { event, isTest, isNew: !isTest && (await store.add(event)) };
  }

  /** The same for a server that answers with a Response: 200, or 401 to a callback that must not be believed. */
  async respond(request: Request): Promise<Response> {
    try {
      await this.receive(request);
      return new Response("ok");
    } catch (error) {
      if (!(error instanceof InvalidCallback)) throw error;
      return new Response(error.code, { status: 401 });
    }
  }
}

function fromJson(body: string | Uint8Array): Record<string, unknown> {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch {
    throw malformed("the body is no JSON");
  }
}

function fromQuery(query: string): Record<string, unknown> {
  const parameters = new URLSearchParams(query);
  const read = Object.entries(FIELDS).flatMap(([name, type]) => {
    const value = parameters.get(name);
    // The two are the signature of the URL, unless `legacy_md5` is set, which has a token.
    const isAbsent = !value || (name === "signature" && !parameters.has("token"));
    return isAbsent ? [] : [[name, type === "number" ? Number(value) : value]];
  });
  return Object.fromEntries(read);
}

function eventOf(fields: Record<string, unknown>): CallbackEvent {
  const missing = REQUIRED.filter((name) => fields[name] === undefined);
  if (missing.length > 0) {
    throw malformed(`it has no ${missing.join(", ")}: verify a URL with macros of other names by verifyCallback`);
  }
  if (!STATUSES.includes(fields.status as string)) throw malformed(`status is ${fields.status}`);
  return fields as CallbackEvent;
}

function malformed(why: string): InvalidCallback {
  return new InvalidCallback(`the callback cannot be read: ${why}`, { code: "invalid_callback" });
}
