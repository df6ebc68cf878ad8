// The session of the console: the member, and what its role may do.

import { signal } from "@preact/signals";
import { BASE, call } from "../shared/client";
import { admit, generation, isSignedOut } from "../shared/session";
import { FIRST } from "./site";
import type { ConsoleSession, Invite, Role } from "./types";

export const SESSION_KEY = "session";

export const session = signal<ConsoleSession | undefined>(undefined);

export const hasSession = () => session.peek() !== undefined && !isSignedOut.peek();

export const accountName = () => (session.value && !isSignedOut.value ? "the console" : null);

/** True if somebody is signed in. The console has one account, so every invite belongs to that account. */
export const holds = (_invite: Invite) => session.value !== undefined;

// The time by which the browser's clock is behind the server's. The browser's clock may be wrong by hours.
let behindMilliseconds = 0;

/** The server's time. It lags by the duration of the answer, but is never ahead: a future time would be refused. */
export const nowMilliseconds = () => Date.now() + behindMilliseconds;
export const nowSeconds = () => Math.floor(nowMilliseconds() / 1000);

/** The server's date, in UTC. */
export const today = () => session.value?.today ?? new Date().toISOString().slice(0, 10);

export function clearSession() {
  session.value = undefined;
}

export async function loadSession(): Promise<ConsoleSession> {
  const asked = generation.peek();
  const loaded = await call<ConsoleSession>("GET", BASE + FIRST);
  if (asked !== generation.peek()) return loaded;
  const former = session.peek()?.member.member_id;
  admit(former === undefined || former === loaded.member.member_id);
  behindMilliseconds = loaded.now * 1000 - Date.now();
  session.value = loaded;
  return loaded;
}

/** The roles that have each right. Support sees everything except keys, and can resend callbacks. */
const RIGHTS = {
  manage: ["admin"],
  replay: ["admin", "support"],
} satisfies Record<string, Role[]>;

/** True if the member who is signed in has a right. */
export const may = (right: keyof typeof RIGHTS) =>
  session.value !== undefined && (RIGHTS[right] as Role[]).includes(session.value.member.role);
