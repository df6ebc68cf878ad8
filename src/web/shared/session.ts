// Who is signed in, as far as both sites know it, and the events that end a session.

import { signal } from "@preact/signals";
import { clearSession, hasSession, SESSION_KEY, loadSession } from "#session";
import { accountApi } from "./account-api";
import { clearCache, prefetch } from "./cache";
import { listeners } from "./client";
import { focusNextHeading, giveUpUnsaved, navigate, ROOT, takeInvite } from "./navigation";

/** No session: the sign-in view stands in place of the view, whose address stays for afterwards. */
export const isSignedOut = signal(false);

/** A session ended by itself while it was in use. */
export const hasExpired = signal(false);

/** The sign-in view is open beside a session, for a further account. */
export const isAdding = signal(false);
/** The account is suspended: its sessions have ended, and its members cannot sign in. */
export const suspension = signal<{ contact: string | null } | null>(null);

export const invite = signal<string | null>(null);

/**
 * Rises with each sign-in, sign-out and change of account. An answer that was asked for before is not taken for the
 * present one, and the view is drawn anew, so that it keeps nothing of the former account.
 */
export const generation = signal(0);

/** Ends when it is known who is signed in, or that nobody is. */
export function startSession(): Promise<void> {
  invite.value = takeInvite();
  addEventListener("hashchange", () => {
    const followed = takeInvite();
    if (followed) invite.value = followed;
  });
  listeners.signedOut = () => {
    if (isSignedOut.value) return;
    hasExpired.value = hasSession();
    forget();
  };
  listeners.suspended = (contact, isShown) => {
    // One that was to be added does not end the session of another.
    if (!isShown && hasSession()) return;
    suspension.value = { contact };
    forget();
  };
  return prefetch(SESSION_KEY, loadSession);
}

/** Nothing of the account that was shown is kept. */
export function leaveAccount() {
  giveUpUnsaved();
  generation.value += 1;
  clearCache();
  clearSession();
}

function forget() {
  leaveAccount();
  isAdding.value = false;
  isSignedOut.value = true;
  focusNextHeading();
}

/** After a sign-in: the view that was asked for is loaded, or the first one of an account that was added. */
export function enter() {
  if (hasSession()) navigate(ROOT);
  leaveAccount();
  invite.value = null;
  isAdding.value = false;
  isSignedOut.value = false;
  hasExpired.value = false;
  suspension.value = null;
  focusNextHeading();
  void prefetch(SESSION_KEY, loadSession);
}

export async function leave() {
  await accountApi.signOut();
  forget();
}
