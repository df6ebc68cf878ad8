// Everything that can go wrong, as types: each error is a SignpostError, and its class says what to do about it.

/** What Signpost, or a proxy before it, said about a request that failed. */
export interface ErrorDetails {
  /** The HTTP status of the answer. */
  status?: number | undefined;
  /** The `code` of the answer, for programs. */
  code?: string | undefined;
  /** The id of the request in the operator's log. */
  requestId?: string | undefined;
  /** Seconds until the same request may succeed. */
  retryAfter?: number | undefined;
  cause?: unknown;
}

export class SignpostError extends Error {
  /** The HTTP status of the answer; absent if there was none. */
  readonly status: number | undefined;
  /** For programs; it does not change. `message` is for people. */
  readonly code: string;
  /** The id of the request in the operator's log, where Cloudflare's network gave it one. */
  readonly requestId: string | undefined;
  /** Seconds until the same request may succeed, if Signpost said so: with 429 and 503. */
  readonly retryAfter: number | undefined;
  /** Whether the same request may succeed later. The clients have repeated it already. */
  readonly isTemporary: boolean = false;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.status = details.status;
    this.code = details.code ?? "unknown";
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
  }
}

/** 400, 404, 405, 413, 415 or a redirect: the request or its address is wrong; `code` and the message name the place. */
export class InvalidRequest extends SignpostError {}
/** 401: the key, the token or the Pub-Key is wrong or revoked. */
export class Unauthorized extends SignpostError {}
/** 403: the key has another scope, or the publisher is not approved. */
export class Forbidden extends SignpostError {}
/** 409 or 410: the conversion is not paid; `code` says why. */
export class ConversionRefused extends SignpostError {}
/** 412, or pages of offers from different listings: the data changed while its pages were read. Begin again. */
export class DataChanged extends SignpostError {}
/** 500: Signpost failed. It is not repeated, since it would most likely fail again. */
export class ServerError extends SignpostError {}

/** 429: the key or the app asked too often. */
export class RateLimited extends SignpostError {
  override readonly isTemporary = true;
}

/** 502 to 599: Signpost, or the network before it, cannot answer now. */
export class Unavailable extends SignpostError {
  override readonly isTemporary = true;
}

/** The whole answer was not there in time. */
export class Timeout extends SignpostError {
  override readonly isTemporary = true;
}
/** No connection, or it ended before the whole answer was there. */
export class ConnectionFailed extends SignpostError {
  override readonly isTemporary = true;
}
/** The answer is no JSON: it was cut, or another server gave it. */
export class InvalidAnswer extends SignpostError {
  override readonly isTemporary = true;
}

/** A value that Signpost would refuse, found before anything was sent. */
export class InvalidParameter extends SignpostError {
  constructor(message: string) {
    super(message, { code: "invalid_parameter" });
  }
}

/** A callback that must not be believed. Answer it with 401. */
export class InvalidCallback extends SignpostError {}
/** The signature is missing, or none of the secrets made it. */
export class InvalidSignature extends InvalidCallback {
  constructor() {
    super("the callback is not signed by a known secret", { code: "invalid_signature" });
  }
}
/** The time of the callback is missing, or too far from the clock. */
export class InvalidTime extends InvalidCallback {
  constructor() {
    super("the time of the callback is missing or too far from the clock", { code: "invalid_time" });
  }
}

/** The error of an answer, by its status. */
export function errorOf(message: string, details: ErrorDetails & { status: number }): SignpostError {
  const { status } = details;
  if (status === 401) return new Unauthorized(message, details);
  if (status === 403) return new Forbidden(message, details);
  if (status === 409 || status === 410) return new ConversionRefused(message, details);
  if (status === 412) return new DataChanged(message, details);
  if (status === 429) return new RateLimited(message, details);
  if (status >= 502) return new Unavailable(message, details);
  if (status >= 500) return new ServerError(message, details);
  return new InvalidRequest(message, details);
}
