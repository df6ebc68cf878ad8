// One request: its timeout, its repeats, and its answer as JSON or as an error. Every call may be repeated: all of them read,
// except a conversion, and Signpost counts a repeated conversion once.

import { ConnectionFailed, errorOf, InvalidAnswer, SignpostError, Timeout } from "./errors.js";
import { VERSION } from "./version.js";

export interface Options {
  /** The address of the interface, such as `https://offers.example.com`. */
  url: string;
  /** Seconds for one attempt, to the end of its answer. 30 without it. */
  timeout?: number | undefined;
  /** How often a request is repeated after 429, 502 to 599, a timeout or a broken connection. 4 without it. */
  retries?: number | undefined;
  /** Seconds before the first repeat, doubled for each further one and drawn at random from the upper half. 0.5 without it. */
  backoff?: number | undefined;
  /** Seconds that one wait may take. If `Retry-After` asks for more, the error is thrown at once. 60 without it. */
  maxWait?: number | undefined;
  /** In the place of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** What a caller may say about one call. */
export interface CallOptions {
  /** Ends the call, also while it waits. */
  signal?: AbortSignal | undefined;
}

export interface SentRequest extends CallOptions {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** The JSON of the body; undefined if there is none. */
  json: unknown;
}

export class Transport {
  readonly #options: Options;
  readonly #headers: Record<string, string>;

  /** `headers` go with each request. */
  constructor(options: Options, headers: Record<string, string> = {}) {
    this.#options = options;
    this.#headers = { Accept: "application/json", "User-Agent": `signpost-client-typescript/${VERSION}`, ...headers };
  }

  async send(request: SentRequest): Promise<Answer> {
    const { retries = 4, backoff = 0.5, maxWait = 60 } = this.#options;
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await this.#attempt(request);
      } catch (error) {
        if (!(error instanceof SignpostError && error.isTemporary) || repeats >= retries) throw error;
        const asked = error.retryAfter ?? 0;
        const wait = Math.max(asked, Math.min(maxWait, backoff * 2 ** repeats * (1 + Math.random()) * 0.5));
        if (wait > maxWait) throw error;
        await sleep(wait, request.signal);
      }
    }
  }

  async #attempt({ method, path, headers, body, signal }: SentRequest): Promise<Answer> {
    const { url, timeout = 30, fetch = globalThis.fetch } = this.#options;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      controller.abort();
    }, timeout * 1000);
    try {
      const answer = await fetch(url.replace(/\/+$/, "") + path, {
        method,
        headers: { ...this.#headers, ...headers },
        // A redirect would take the key to another host.
        redirect: "manual",
        signal: controller.signal,
        ...(body === undefined ? {} : { body }),
      });
      return read(answer, await answer.text());
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof SignpostError) throw error;
      const details = { cause: error };
      if (isLate) throw new Timeout(`no whole answer within ${timeout} s`, { ...details, code: "timeout" });
      throw new ConnectionFailed("the connection failed", { ...details, code: "connection_failed" });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }
}

function read(answer: Response, text: string): Answer {
  const { status, headers } = answer;
  const json = parsed(text);
  const isTaken = (status >= 200 && status < 300) || status === 304;
  const isEmpty = status === 204 || status === 304;
  if (isTaken && (isEmpty || json !== undefined)) return { status, headers, json };
  const { error, code } = ((typeof json === "object" ? json : null) as { error?: string; code?: string }) ?? {};
  const details = {
    status,
    requestId: headers.get("X-Request-Id") ?? headers.get("CF-Ray") ?? undefined,
    retryAfter: seconds(headers.get("Retry-After")),
  };
  if (isTaken)
    throw new InvalidAnswer(`an answer of status ${status} is no JSON`, { ...details, code: "invalid_answer" });
  throw errorOf(error ?? `status ${status}`, { ...details, code: code ?? `http_${status}` });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The seconds of a `Retry-After`, which may be a date. */
function seconds(value: string | null): number | undefined {
  if (!value) return undefined;
  const number = Number(value);
  const wait = Number.isNaN(number) ? (Date.parse(value) - Date.now()) / 1000 : number;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function sleep(time: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, time * 1000);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
