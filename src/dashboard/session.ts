// The session: the member who is signed in, and the events that end or change it.

import { signal } from "@preact/signals";
import { api, ApiError, onSignedOut, onSuspended, onSwitched, showPublisher } from "./api";
import { clearCache, prefetch, refresh } from "./cache";
import { account } from "./messages";
import { focusNextHeading, giveUpUnsaved, navigate, OVERVIEW_PATH, takeInvite } from "./router";
import { say } from "./components/status";
import type { Overview, Role } from "./types";

export const OVERVIEW_KEY = "overview";

/** The newest overview; it names the member, the role and the publisher for every view. */
export const session = signal<Overview | undefined>(undefined);

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

export async function loadOverview(): Promise<Overview> {
  const asked = generation.peek();
  const overview = await api.overview();
  if (asked !== generation.peek()) return overview;
  const { publisher_id } = overview.publisher;
  const former = session.peek()?.publisher.publisher_id;
  // Another tab can have switched the account; what is kept here belongs to the former one.
  if (former !== undefined && former !== publisher_id) leaveAccount();
  showPublisher(publisher_id);
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
  onSwitched(() => {
    // Of several calls that were refused, the first has the page follow.
    if (session.peek() === undefined) return;
    showAccount(account.switchedElsewhere);
  });
  onSuspended((contact, isShown) => {
    // One that was to be added does not end the session of another.
    if (!isShown && session.peek() !== undefined) return;
    suspension.value = { contact };
    forget();
  });
  return prefetch(OVERVIEW_KEY, loadOverview);
}

/** Nothing of the account that was shown is kept. */
function leaveAccount() {
  giveUpUnsaved();
  generation.value += 1;
  clearCache();
  showPublisher(null);
  session.value = undefined;
}

function forget() {
  leaveAccount();
  isAdding.value = false;
  isSignedOut.value = true;
  focusNextHeading();
}

/** Shows the overview of the browser's current account. */
function showAccount(said: string) {
  leaveAccount();
  void prefetch(OVERVIEW_KEY, loadOverview);
  navigate(OVERVIEW_PATH);
  say(said);
}

/** After a sign-in: the view that was asked for is loaded, or the overview of an account that was added. */
export function enter() {
  if (session.peek() !== undefined) navigate(OVERVIEW_PATH);
  leaveAccount();
  invite.value = null;
  isAdding.value = false;
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
  try {
    await api.switchAccount(publisherId);
  } catch (error) {
    // Its session has ended: the next overview does not name it.
    if (error instanceof ApiError && error.status === 404) void refresh(OVERVIEW_KEY);
    throw error;
  }
  showAccount(account.switched(name));
}

export type Right =
  | "reports"
  | "apps"
  | "app_settings"
  | "rewards"
  | "replay"
  | "keys"
  | "pub_key"
  | "members"
  | "passkeys"
  | "sessions"
  | "audit";

const RIGHTS: Record<Role, Right[]> = {
  owner: [
    "reports",
    "apps",
    "app_settings",
    "rewards",
    "replay",
    "keys",
    "pub_key",
    "members",
    "passkeys",
    "sessions",
    "audit",
  ],
  developer: [
    "reports",
    "apps",
    "app_settings",
    "rewards",
    "replay",
    "keys",
    "pub_key",
    "passkeys",
    "sessions",
    "audit",
  ],
  analyst: ["reports", "apps", "rewards", "passkeys", "sessions"],
};

export const may = (role: Role, right: Right) => RIGHTS[role].includes(right);
