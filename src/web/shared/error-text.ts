// An error as a sentence for people.

import { ApiError } from "./client";
import { errors } from "./messages";
import { PasskeyError } from "./passkeys";

export function errorText(error: unknown): string {
  if (error instanceof PasskeyError) return errors.passkey[error.reason];
  if (!(error instanceof ApiError)) return errors.unknown;
  if (error.code === "network") return errors.network;
  if (error.code === "unreadable") return errors.unreadable;
  if (error.code === "role_forbids") return sentence(errors.roleTitle);
  if (error.code === "last_owner") return errors.lastOwner;
  if (error.code === "account_switched") return errors.switched;
  if (error.code === "passkey_refused") return errors.passkeyRefused;
  if (error.code === "account_suspended") return errors.suspended;
  const again = error.retryAfter ? ` ${errors.again(Math.ceil(error.retryAfter))}` : "";
  if (error.status === 429) return errors.tooMany + again;
  if (error.status === 503) return errors.unavailable + again;
  if (error.status >= 500) return errors.internal;
  return error.message ? sentence(error.message) : errors.unknown;
}

/** The error with the text for its code from `words`, if there is one. */
export function inWords(error: unknown, words: Record<string, string | null>, requestId = requestIdOf(error)): unknown {
  const text = error instanceof ApiError && words[error.code];
  return text ? new ApiError(error.status, error.code, text, requestId, null) : error;
}

// The API's messages are lower-case fragments.
export function sentence(message: string): string {
  if (!message) return errors.internal;
  const text = message[0]!.toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export const requestIdOf = (error: unknown) => (error instanceof ApiError ? error.requestId : null);
