// Who is signed in, as far as both sites know it, and the events that end a session.

import { batch, signal } from "@preact/signals";
import { clearSession, hasSession, SESSION_KEY, loadSession } from "#session";
import { accountApi } from "./account-api";
import { clearCache, prefetch, returned } from "./cache";
import { listeners } from "./client";
import { say } from "./components/status";
import { signIn as text } from "./messages";
import { focusNextHeading, giveUpUnsaved, navigate, ROOT, takeInvite } from "./navigation";

/** No session: the sign-in view stands in place of the view, whose address stays for afterwards. */
export const isSignedOut = signal(false);

/**
 * The view that somebody typed in when the session ended. It stays in the page, hidden, and is given back to the same member.
 * Nothing is stored.
 */
export const kept = signal<{ title: string; scrolled: number; focused: Element | null } | null>(null);

/** A session ended by itself while it was in use. */
export const hasExpired = signal(false);

/** The sign-in view is open beside a session, for a further account. */
export const isAdding = signal(false);
/** The account is suspended: its sessions have ended, and its members cannot sign in. */
export const suspension = signal<{ contact: string | null } | null>(null);

export const invite = signal<string | null>(null);

/**
 * Rises with each sign-in, sign-out and change of account. An answer that was asked for before is not taken for the
 * present one, and the page is drawn from scratch, so it keeps nothing of the former account.
 */
export const generation = signal(0);

// The path at which something was typed, chosen or dropped last.
let typedAt = "";

/** A secret that is shown goes with the session. */
const showsSecret = () => document.querySelector("[data-secret]") !== null;

/** Ends when it is known who is signed in, or that nobody is. */
export function startSession(): Promise<unknown> {
  for (const event of ["input", "drop"]) addEventListener(event, () => (typedAt = location.pathname));
  invite.value = takeInvite();
  addEventListener("hashchange", () => {
    const followed = takeInvite();
    if (followed) invite.value = followed;
  });
  // The way back leads from the hidden view, too, which is then not the one to go on with.
  addEventListener("popstate", () => {
    if (kept.value && location.pathname !== typedAt) leaveAccount();
  });
  listeners.signedOut = () => {
    if (isSignedOut.value) return;
    hasExpired.value = hasSession();
    if (!hasSession() || typedAt !== location.pathname || showsSecret()) return forget();
    kept.value = { title: document.title, scrolled: scrollY, focused: document.activeElement };
    coverView();
  };
  listeners.suspended = (contact, isShown) => {
    // One that was to be added does not end the session of another.
    if (!isShown && hasSession()) return;
    suspension.value = { contact };
    forget();
  };
  return prefetch(SESSION_KEY, loadSession);
}

/** Nothing of the account that was shown is kept, not even the focus. */
export function leaveAccount() {
  giveUpUnsaved();
  focusNextHeading();
  kept.value = null;
  generation.value += 1;
  clearCache();
  clearSession();
}

function forget() {
  leaveAccount();
  coverView();
}

function coverView() {
  isAdding.value = false;
  isSignedOut.value = true;
  focusNextHeading();
}

/** After a sign-in: the view that was asked for is loaded, or the first one of an account that was added. */
export async function enter() {
  if (kept.value) return void (await loadSession());
  if (hasSession()) navigate(ROOT);
  leaveAccount();
  open();
  void prefetch(SESSION_KEY, loadSession);
}

/** Takes a session that was loaded. Another member sees nothing of the one before. */
export const admit = (isSame: boolean) =>
  batch(() => {
    const wasKept = kept.value !== null;
    if (!isSame || (wasKept && showsSecret())) leaveAccount();
    if (kept.value) {
      returned.value += 1;
      say(text.returned);
    }
    if (wasKept) open();
    isSignedOut.value = false;
    hasExpired.value = false;
  });

function open() {
  kept.value = null;
  invite.value = null;
  isAdding.value = false;
  isSignedOut.value = false;
  hasExpired.value = false;
  suspension.value = null;
}

export async function leave() {
  await accountApi.signOut();
  forget();
}
