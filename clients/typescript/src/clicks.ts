// The tracking URL that a user opens: its parameters, and its signature for an app that has a click secret.

import { InvalidParameter } from "./errors.js";
import { hex, hmac, utf8 } from "./hmac.js";

/** The parameters of a click. Those that are left out or empty are not sent. */
export interface Click {
  /** The user who clicks: 1 to 128 letters, digits and `_ @ - .` It comes back in the callback. */
  userId: string;
  /** The advertising identifier of Android. */
  gaid?: string | undefined;
  /** The advertising identifier of iOS. */
  idfa?: string | undefined;
  /** Your own, of the same characters as the user: at most 256 each and 768 together. They come back in the callback. */
  c1?: string | undefined;
  c2?: string | undefined;
  c3?: string | undefined;
  c4?: string | undefined;
  c5?: string | undefined;
  /** Where in the app the offer was shown; a dimension of the reports. At most 64 characters. */
  placement?: string | undefined;
}

const USER_ID = /^[A-Za-z0-9_@.-]{1,128}$/;
const CUSTOM = /^[A-Za-z0-9_@.-]{0,256}$/;
const PLACEMENT = /^[A-Za-z0-9_@.-]{0,64}$/;
const MAX_CUSTOM_CHARACTERS = 768;
/** Words that other software writes for an empty variable. */
const WORDS_FOR_NONE = ["null", "undefined", "none"];
const CUSTOM_NAMES = ["c1", "c2", "c3", "c4", "c5"] as const;

/** Appends a click's parameters to an offer's `trk_url_base`. */
export function clickUrl(base: string, click: Click): string {
  check(base, click);
  const { userId, gaid, idfa, placement } = click;
  const parameters = { user_id: userId, gaid, idfa, ...customOf(click), placement };
  return Object.entries(parameters)
    .filter(([, value]) => value)
    .reduce((url, [name, value]) => `${url}&${name}=${encodeURIComponent(value!)}`, base);
}

/**
 * The same with `sig`, by the app's click secret. After `expiresAt`, in UNIX seconds, the link is refused; without it the
 * link has no end.
 */
export async function signedClickUrl(base: string, click: Click, secret: string, expiresAt?: number): Promise<string> {
  const url = clickUrl(base, click);
  const app = /[?&]app=([0-9]{8})(&|$)/.exec(base)?.[1];
  if (!app) throw new InvalidParameter("base has no app: pass the trk_url_base of an offer");
  const sig = await signClick(secret, app, click.userId, expiresAt);
  return `${url}${expiresAt === undefined ? "" : `&exp=${expiresAt}`}&sig=${sig}`;
}

/** The `sig` of a click. `userId` is as it is before it is encoded for the URL. */
export async function signClick(secret: string, app: string, userId: string, expiresAt?: number): Promise<string> {
  if (expiresAt !== undefined && !Number.isSafeInteger(expiresAt)) {
    throw new InvalidParameter(`expiresAt must be whole UNIX seconds (got ${expiresAt})`);
  }
  const message = `app=${app}&user_id=${userId}${expiresAt === undefined ? "" : `&exp=${expiresAt}`}`;
  return hex(await hmac(utf8(secret), utf8(message)));
}

function check(base: string, click: Click): void {
  if (!base.includes("?") || base.includes("{")) {
    throw new InvalidParameter("base must be the trk_url_base of an offer, which has no placeholders");
  }
  // In JavaScript it may be no text at all.
  if (
    typeof click.userId !== "string" ||
    !USER_ID.test(click.userId) ||
    WORDS_FOR_NONE.includes(click.userId.toLowerCase())
  ) {
    throw new InvalidParameter(
      `userId must be 1 to 128 letters, digits and _ @ - . (got ${JSON.stringify(click.userId)})`,
    );
  }
  const custom = Object.entries(customOf(click));
  for (const [name, value] of custom) {
    if (!CUSTOM.test(value ?? "")) {
      throw new InvalidParameter(
        `${name} must be at most 256 letters, digits and _ @ - . (got ${JSON.stringify(value)})`,
      );
    }
  }
  if (custom.reduce((sum, [, value]) => sum + (value?.length ?? 0), 0) > MAX_CUSTOM_CHARACTERS) {
    throw new InvalidParameter(`c1 to c5 must have at most ${MAX_CUSTOM_CHARACTERS} characters together`);
  }
  if (!PLACEMENT.test(click.placement ?? "")) {
    throw new InvalidParameter(
      `placement must be at most 64 letters, digits and _ @ - . (got ${JSON.stringify(click.placement)})`,
    );
  }
}

function customOf(click: Click): Record<string, string | undefined> {
  return Object.fromEntries(CUSTOM_NAMES.map((name) => [name, click[name]]));
}
