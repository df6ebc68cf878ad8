// Calls to Signpost: typed results and one error type.

import { FIRST, NAME, READS } from "#site";
import type { Refusal, WrongLine } from "./types";

// After a 429 or 503 that asks for at most this wait, the call is retried once. The person decides about a longer wait.
const MAX_WAIT_SECONDS = 10;

export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when no answer arrived. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null,
    readonly retryAfter: number | null,
    /** The operator's support, if the answer names it. */
    readonly help: string | null = null,
    /** The first wrong lines of an upload. */
    readonly lines: WrongLine[] = [],
  ) {
    super(message);
  }
}

/** Functions that certain answers call. */
export const listeners = {
  /** The call needs a fresh passkey. Afterwards it is made once more. */
  verify: async () => {},
  signedOut: () => {},
  /** The browser has switched to an account other than the one that the page shows. */
  switched: () => {},
  /** An account is suspended. `isShown` is false if an invite or a passkey named the account, not the session. */
  suspended: (_contact: string | null, _isShown: boolean) => {},
};

let shownPublisher: string | null = null;

/** Each call names the publisher that the page shows, so that no call reaches an account that another tab chose. */
export function showPublisher(publisherId: string | null) {
  shownPublisher = publisherId;
}

/** The prefix of the site's calls. */
export const BASE = `/v1/${NAME}`;

function retryAfterSeconds(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as Partial<Refusal>;
  return new ApiError(
    response.status,
    body.code ?? "unknown",
    body.error ?? "",
    response.headers.get("X-Request-Id"),
    retryAfterSeconds(response),
    /^<([^>]+)>; rel="help"$/.exec(response.headers.get("Link") ?? "")?.[1] ?? null,
    body.lines,
  );
}

type Headers = Record<string, string>;
/** JSON, or the text of a file. */
type Body = object | string;

async function send(method: string, path: string, body?: Body, extra: Headers = {}): Promise<Response> {
  const headers: Headers = { ...extra };
  const text = typeof body === "string" ? body : body && JSON.stringify(body);
  if (body !== undefined) headers["Content-Type"] ??= "application/json";
  try {
    return await fetch(path, { method, headers, body: text });
  } catch {
    throw new ApiError(0, "network", "", null, null);
  }
}

/** Makes a call, and retries it once if that is safe. The body is JSON, or text whose type is in a header. */
export async function call<Result>(method: string, path: string, body?: Body, extra?: Headers): Promise<Result> {
  return read(await accepted(method, path, body, extra));
}

async function read<Result>(response: Response): Promise<Result> {
  if (response.status === 204) return undefined as Result;
  try {
    return (await response.json()) as Result;
  } catch {
    throw new ApiError(response.status, "unreadable", "", response.headers.get("X-Request-Id"), null);
  }
}

/** The verification that calls wait for. */
let verification: Promise<void> | null = null;

/** The answer to a call, unless it is a refusal. */
async function accepted(method: string, path: string, body?: Body, extra: Headers = {}): Promise<Response> {
  // The first call names no publisher, because its answer says which one is shown. It must also equal the shell's
  // preload, which has no such header.
  const isNamed = shownPublisher !== null && path !== BASE + FIRST;
  const headers = isNamed ? { ...extra, "X-Publisher": shownPublisher! } : extra;
  try {
    return await attempt(method, path, body, headers);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "verify_first") throw error;
    verification ??= listeners.verify().finally(() => (verification = null));
    await verification;
    return attempt(method, path, body, headers);
  }
}

async function attempt(method: string, path: string, body?: Body, extra?: Headers): Promise<Response> {
  let response = await send(method, path, body, extra);
  // A write that was not answered may have been carried out, so only reads are retried after a 503.
  const mayRepeat = response.status === 429 || (response.status === 503 && isRead(method, path));
  if (mayRepeat) {
    const wait = retryAfterSeconds(response);
    if (wait !== null && wait <= MAX_WAIT_SECONDS) {
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      response = await send(method, path, body, extra);
    }
  }
  if (response.ok) return response;
  const error = await errorOf(response);
  if (error.code === "not_signed_in") listeners.signedOut();
  if (error.code === "account_switched") listeners.switched();
  if (error.code === "account_suspended") listeners.suspended(error.help, isOfSession(method, path));
  throw error;
}

// These calls name an account by an invite or a passkey; the others are about the session's account.
const NAMES_ACCOUNT = new RegExp(`^${BASE}/(invite|sign_in.*|passkeys(/(creation|request))?)$`);
const isOfSession = (method: string, path: string) => method === "GET" || !NAMES_ACCOUNT.test(path);

const isRead = (method: string, path: string) => method === "GET" || READS.test(path);

/** The property for the entity tag with which a document was read. JSON leaves it out, because it is a symbol. */
const TAG = Symbol("tag");

/** A document as it was read. A write replaces it only if it has not changed since. */
export type Tagged<Document> = Document & { readonly [TAG]: string };

async function tagged<Document extends object>(answer: Promise<Response>): Promise<Tagged<Document>> {
  const response = await answer;
  return { ...(await read<Document>(response)), [TAG]: response.headers.get("ETag") ?? "" };
}

export const getTagged = <Document extends object>(path: string) => tagged<Document>(accepted("GET", path));
/** Replaces `seen` by a document, or creates a new one if `seen` is null. */
export const putTagged = <Document extends object>(path: string, body: object, seen: Tagged<object> | null) =>
  tagged<Document>(accepted("PUT", path, body, seen ? ifMatch(seen[TAG]) : { "If-None-Match": "*" }));

/** The condition of a write: the document has this tag. */
export const ifMatch = (tag: string): Headers => ({ "If-Match": tag });
/** The document has changed since it was read, or already exists although the write would create it. */
export const isChangedMeanwhile = (error: unknown) => error instanceof ApiError && error.status === 412;
/** True for a refusal. The same request would be refused again, so nothing retries it automatically. */
export const isRefused = (error: unknown) =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;

// Writes without the content type JSON are refused, and only a call with a body has a content type.
export const remove = (path: string) => call<void>("DELETE", path, {});
export const id = encodeURIComponent;
