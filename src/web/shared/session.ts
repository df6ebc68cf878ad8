// The part of the session that both sites share, and the events that end a session.

import { batch, signal } from "@preact/signals";
import { clearSession, hasSession, SESSION_KEY, loadSession } from "#session";
import { post } from "./api";
import { clearCache, prefetch, returned } from "./cache";
import { listeners } from "./client";
import { say } from "./components/status";
import { signIn as text } from "./messages";
import { verify } from "./passkeys";
import { focusNextHeading, giveUpUnsaved, navigate, ROOT, takeInvite } from "./navigation";

/**
 * True without a session. The sign-in view then replaces the view. The URL stays, so that the view opens after the
 * sign-in.
 */
export const isSignedOut = signal(false);

/**
 * The view in which somebody typed before the session ended. It stays in the page, hidden, and comes back if the same
 * member signs in. Nothing is stored.
 */
export const kept = signal<{ title: string; scrolled: number; focused: Element | null } | null>(null);

/** True if a session ended by itself while it was in use. */
export const hasExpired = signal(false);

/** True while the sign-in view is open during a session, to add another account. */
export const isAdding = signal(false);
/** The account is suspended: its sessions have ended, and its members cannot sign in. */
export const suspension = signal<{ contact: string | null } | null>(null);

export const invite = signal<string | null>(null);

/**
 * Rises with each sign-in, sign-out and change of account. Answers to earlier requests are then ignored, and the page
 * is drawn from scratch, so it keeps nothing of the former account.
 */
export const generation = signal(0);

// The path at which something was typed, chosen or dropped last.
let typedAt = "";

/** True if the page shows a secret. A secret disappears when the session ends. */
const showsSecret = () => document.querySelector("[data-secret]") !== null;

/** Resolves when the page knows who is signed in, or that nobody is. */
export function startSession(): Promise<unknown> {
  for (const event of ["input", "drop"]) addEventListener(event, () => (typedAt = location.pathname));
  invite.value = takeInvite();
  addEventListener("hashchange", () => {
    const followed = takeInvite();
    if (followed) invite.value = followed;
  });
  // The back button also leaves the hidden view, which then must not come back.
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
    // If somebody tries to add a suspended account, the current session belongs to another account and stays.
    if (!isShown && hasSession()) return;
    suspension.value = { contact };
    forget();
  };
  listeners.verify = verify;
  return prefetch(SESSION_KEY, loadSession);
}

/** Forgets everything about the account that was shown, even the focus. */
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

/** After a sign-in, opens the requested view, or the first view of an account that was added. */
export async function enter() {
  if (kept.value) return void (await loadSession());
  if (hasSession()) navigate(ROOT);
  leaveAccount();
  open();
  void prefetch(SESSION_KEY, loadSession);
}

/** Accepts a loaded session. Another member sees nothing of the former one. */
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
  await post("/sign_out", {});
  forget();
}
