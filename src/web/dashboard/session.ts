// The session of the dashboard: the member, its publisher, and what its role may do.

import { signal } from "@preact/signals";
import { ApiError, listeners, showPublisher } from "../shared/client";
import { prefetch, refresh } from "../shared/cache";
import { say } from "../shared/components/status";
import { navigate } from "../shared/navigation";
import { admit, generation, isSignedOut, leaveAccount } from "../shared/session";
import { get, post } from "./api";
import { accounts } from "./messages";
import { OVERVIEW_PATH } from "./router";
import { FIRST } from "./site";
import type { Invite, Overview, Role } from "./types";

export const OVERVIEW_KEY = "overview";
export { loadOverview as loadSession, OVERVIEW_KEY as SESSION_KEY };

/** The newest overview; it names the member, the role and the publisher for every view. */
export const session = signal<Overview | undefined>(undefined);

export const hasSession = () => session.peek() !== undefined && !isSignedOut.peek();

export const accountName = () => (isSignedOut.value ? null : (session.value?.publisher.name ?? null));

/** True if the browser is signed in to the account of an invite. */
export const holds = ({ publisher }: Invite) =>
  session.value?.accounts.some((held) => held.publisher_id === publisher?.publisher_id) ?? false;

export function clearSession() {
  showPublisher(null);
  session.value = undefined;
}

export async function loadOverview(): Promise<Overview> {
  const asked = generation.peek();
  const overview = await get(FIRST, {});
  if (asked !== generation.peek()) return overview;
  const { publisher_id } = overview.publisher;
  const former = session.peek();
  // Another tab may have switched the account. Then the data that this page keeps belongs to the former account.
  const isSame =
    former?.publisher.publisher_id === publisher_id && former.member.member_id === overview.member.member_id;
  admit(!former || isSame);
  showPublisher(publisher_id);
  session.value = overview;
  return overview;
}

/** Makes the page follow when another tab has switched to another account. */
export function followSwitches() {
  listeners.switched = () => {
    // When several calls were refused, only the first one makes the page follow.
    if (session.peek() === undefined) return;
    showAccount(accounts.switchedElsewhere);
  };
}

/** Shows the overview of the browser's current account. */
function showAccount(said: string) {
  leaveAccount();
  void prefetch(OVERVIEW_KEY, loadOverview);
  navigate(OVERVIEW_PATH);
  say(said);
}

export async function switchAccount(publisherId: string, name: string) {
  try {
    await post("/switch", {}, { publisher_id: publisherId });
  } catch (error) {
    // The session of that account has ended, so the next overview does not name the account.
    if (error instanceof ApiError && error.status === 404) void refresh(OVERVIEW_KEY);
    throw error;
  }
  showAccount(accounts.switched(name));
}

const RIGHTS = {
  reports: ["owner", "developer", "analyst", "user_support"],
  apps: ["owner", "developer", "analyst", "user_support"],
  app_settings: ["owner", "developer"],
  rewards: ["owner", "developer", "analyst", "user_support"],
  replay: ["owner", "developer", "user_support"],
  replay_many: ["owner", "developer"],
  users: ["owner"],
  keys: ["owner", "developer"],
  pub_key: ["owner", "developer"],
  members: ["owner"],
  alarms: ["owner", "developer"],
  passkeys: ["owner", "developer", "analyst", "user_support"],
  sessions: ["owner", "developer", "analyst", "user_support"],
  audit: ["owner", "developer"],
} satisfies Record<string, Role[]>;

export const may = (right: keyof typeof RIGHTS) =>
  session.value !== undefined && (RIGHTS[right] as Role[]).includes(session.value.member.role);
