// Whether a callback is Signpost's and unchanged, by its headers or by the query of a GET alone.

import { InvalidParameter, InvalidSignature, InvalidTime } from "./errors.js";
import { base64, fromBase64, hex, hmac, isEqual, joined, utf8 } from "./hmac.js";

/** Headers as a Request has them, or by name as Node.js has them. */
export type CallbackHeaders = Headers | Record<string, string | string[] | undefined>;

export interface VerifyOptions {
  /** The time in UNIX seconds. Now, without it. */
  now?: number | undefined;
  /** Seconds that the callback's time may be before or after `now`. 300 without it. */
  tolerance?: number | undefined;
}

/** The bytes of a callback's secret: `whsec_` and base64 of 24 to 64 bytes. */
export function secretKey(secret: string): Uint8Array {
  const [, text] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? [];
  try {
    const key = fromBase64(text ?? "");
    if (key.length >= 24 && key.length <= 64) return key;
  } catch {
    // The error below reports it, without the secret.
  }
  throw new InvalidParameter("a callback's secret must be whsec_ and base64 of 24 to 64 bytes");
}

/**
 * Throws InvalidSignature or InvalidTime unless one of the secrets signed the callback. `payload` is a POST's body as it
 * came, or a GET's query as it came, without the "?". While a secret rotates there are two secrets.
 */
export async function verifyCallback(
  secrets: readonly string[],
  headers: CallbackHeaders,
  payload: string | Uint8Array,
  options: VerifyOptions = {},
): Promise<void> {
  const timestamp = header(headers, "webhook-timestamp");
  checkTime(timestamp, options);
  const signatures = header(headers, "webhook-signature").split(" ");
  const begin = utf8(`${header(headers, "webhook-id")}.${timestamp}.`);
  const message = joined(begin, typeof payload === "string" ? utf8(payload) : payload);
  for (const secret of secrets) {
    const expected = `v1,${base64(await hmac(secretKey(secret), message))}`;
    if (signatures.some((signature) => isEqual(signature, expected))) return;
  }
  throw new InvalidSignature();
}

/**
 * The same by a GET's query alone, as it came, without the "?", for receivers that do not see the headers. `name` is
 * "signature_hmac" where `legacy_md5` is set.
 */
export async function verifyCallbackQuery(
  secrets: readonly string[],
  query: string,
  { name = "signature", ...options }: VerifyOptions & { name?: "signature" | "signature_hmac" } = {},
): Promise<void> {
  const at = query.lastIndexOf(`&${name}=`);
  if (at < 0) throw new InvalidSignature();
  const before = query.slice(0, at);
  checkTime(/&ts=([0-9]{1,12})&/.exec(`&${before}&`)?.[1] ?? "", options);
  for (const secret of secrets) {
    const expected = hex(await hmac(secretKey(secret), utf8(before)));
    if (isEqual(query.slice(at + `&${name}=`.length), expected)) return;
  }
  throw new InvalidSignature();
}

function checkTime(timestamp: string, { now = Date.now() / 1000, tolerance = 300 }: VerifyOptions): void {
  // No comparison with NaN is true, so an invalid time is refused.
  const isNear = Math.abs(now - Number(timestamp)) <= tolerance;
  if (!/^[0-9]{1,12}$/.test(timestamp) || !isNear) throw new InvalidTime();
}

export function header(headers: CallbackHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const [, value] = Object.entries(headers).find(([known]) => known.toLowerCase() === name) ?? [];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}
