// The session: the member who is signed in, and the events that end or change it.

import { signal } from "@preact/signals";
import { api, onSignedOut, onSuspended } from "./api";
import { clearCache, prefetch } from "./cache";
import { account } from "./messages";
import { focusNextHeading, navigate, OVERVIEW_PATH, takeInvite } from "./router";
import { say } from "./components/status";
import type { Overview, Role } from "./types";

export const OVERVIEW_KEY = "overview";

/** The newest overview; it names the member, the role and the publisher for every view. */
export const session = signal<Overview | undefined>(undefined);

/** No session: the sign-in view stands in place of the view, whose address stays for afterwards. */
export const isSignedOut = signal(false);

/** A session ended by itself while it was in use. */
export const hasExpired = signal(false);

/** The account is suspended: its sessions have ended, and its members cannot sign in. */
export const suspension = signal<{ contact: string | null } | null>(null);

export const invite = signal<string | null>(null);

/** Rises with each sign-in and sign-out, so that an answer that was asked for before is not taken for the present one. */
let generation = 0;

export async function loadOverview(): Promise<Overview> {
  const asked = generation;
  const overview = await api.overview();
  if (asked !== generation) return overview;
  const former = session.peek()?.publisher.publisher_id;
  // Another tab can have switched the account; what is kept here belongs to the former one.
  if (former !== undefined && former !== overview.publisher.publisher_id) clearCache();
  session.value = overview;
  isSignedOut.value = false;
  hasExpired.value = false;
  return overview;
}

/** Ends when it is known who is signed in, or that nobody is. */
export function startSession(): Promise<void> {
  invite.value = takeInvite();
  addEventListener("hashchange", () => {
    const followed = takeInvite();
    if (followed) invite.value = followed;
  });
  onSignedOut(() => {
    if (isSignedOut.value) return;
    hasExpired.value = session.value !== undefined;
    forget();
  });
  onSuspended((contact) => {
    suspension.value = { contact };
    forget();
  });
  return prefetch(OVERVIEW_KEY, loadOverview);
}

function forget() {
  generation += 1;
  clearCache();
  session.value = undefined;
  isSignedOut.value = true;
  focusNextHeading();
}

/** After a sign-in: the view that was asked for is loaded. */
export function enter() {
  generation += 1;
  clearCache();
  invite.value = null;
  isSignedOut.value = false;
  hasExpired.value = false;
  suspension.value = null;
  focusNextHeading();
  void prefetch(OVERVIEW_KEY, loadOverview);
}

export async function leave() {
  await api.signOut();
  forget();
}

export async function switchAccount(publisherId: string, name: string) {
  await api.switchAccount(publisherId);
  clearCache();
  session.value = undefined;
  void prefetch(OVERVIEW_KEY, loadOverview);
  navigate(OVERVIEW_PATH);
  say(account.switched(name));
}

export type Right = "reports" | "keys" | "pub_key" | "members" | "sessions" | "audit";

const RIGHTS: Record<Role, Right[]> = {
  owner: ["reports", "keys", "pub_key", "members", "sessions", "audit"],
  developer: ["reports", "keys", "pub_key", "sessions", "audit"],
  analyst: ["reports", "sessions"],
};

export const may = (role: Role, right: Right) => RIGHTS[role].includes(right);
