// Sign-in: with a passkey, or for the first time with an invite link.

import { accountName, hasSession, holds, loadSession, SESSION_KEY } from "#session";
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../action";
import { post } from "../api";
import { ApiError } from "../client";
import { useCached } from "../cache";
import { LinkButton, WideButton, WideRun } from "../components/button";
import { Heading } from "../components/heading";
import { Mark } from "../components/icons";
import { Failed, FormError, Skeleton } from "../components/states";
import { timeText } from "../format";
import { common, ROLE_HINTS, ROLE_NAMES, signIn as text } from "../messages";
import { createPasskey, signInWithPasskey } from "../passkeys";
import { enter, hasExpired, invite as heldInvite, isAdding, isSignedOut, kept, leave, suspension } from "../session";
import type { Invite } from "../types";

export function SignIn() {
  const invite = heldInvite.value;
  return (
    <div class="sign-in">
      <header class="brand">
        <Mark /> {common.product}
      </header>
      <main id="content" class="card">
        {suspension.value ? (
          <Suspended contact={suspension.value.contact} />
        ) : invite === null ? (
          <WithPasskey />
        ) : accountName() !== null || isSignedOut.value ? (
          <WithInvite key={invite} invite={invite} />
        ) : (
          <CheckingSession />
        )}
      </main>
    </div>
  );
}

const nameOf = ({ publisher }: Invite) => publisher?.name ?? text.console;

function Checking() {
  return (
    <>
      <Heading title={text.checking} />
      <Skeleton lines={4} />
    </>
  );
}

/** Shown until the open sessions are known: a session of the invite's account must be left first. */
function CheckingSession() {
  const { error, reload } = useCached<unknown>(SESSION_KEY, loadSession);
  if (!error) return <Checking />;
  return (
    <>
      <Heading title={text.title} />
      <Failed error={error} retry={reload} compact />
    </>
  );
}

function Suspended({ contact }: { contact: string | null }) {
  const leaveIt = () => {
    suspension.value = null;
    heldInvite.value = null;
  };
  return (
    <>
      <Heading title={text.suspendedTitle} />
      <p>{text.suspended}</p>
      <div class="stack">
        {contact && (
          <LinkButton class="button primary wide" href={contact}>
            {common.contact}
          </LinkButton>
        )}
        <WideButton onClick={leaveIt}>{text.otherAccount}</WideButton>
      </div>
    </>
  );
}

function WithPasskey() {
  const action = useAction(async () => {
    await signInWithPasskey();
    await enter();
  });
  return (
    <>
      <Heading title={isAdding.value ? text.addTitle : text.title} />
      <p>
        {isAdding.value ? text.addIntro : kept.value ? text.expiredKept : hasExpired.value ? text.expired : text.intro}
      </p>
      <FormError error={action.error} />
      <div class="stack">
        <WideRun of={action}>{action.isRunning ? text.waiting : text.withPasskey}</WideRun>
        {isAdding.value && <WideButton onClick={() => (isAdding.value = false)}>{common.cancel}</WideButton>}
      </div>
      <p class="note">{text.noPasskey}</p>
    </>
  );
}

function SessionOpen({ name, onLeft }: { name: string; onLeft?: () => void }) {
  const action = useAction(async () => {
    await leave();
    onLeft?.();
  });
  return (
    <>
      <Heading title={text.openTitle(name)} />
      <p>{text.open}</p>
      <FormError error={action.error} />
      <div class="stack">
        <WideRun of={action}>{text.leave}</WideRun>
        <WideButton onClick={() => (heldInvite.value = null)}>{text.stay}</WideButton>
      </div>
    </>
  );
}

function WithInvite({ invite }: { invite: string }) {
  const [found, setFound] = useState<Invite | ApiError | null>(null);
  const load = () => {
    setFound(null);
    post("/invite", {}, { invite }).then(setFound, setFound);
  };
  useEffect(load, []);
  if (found === null) return <Checking />;
  if (found instanceof ApiError) {
    if (found.status !== 404) {
      return (
        <>
          <Heading title={text.title} />
          <Failed error={found} retry={load} compact />
        </>
      );
    }
    return (
      <>
        <Heading title={text.unknownTitle} />
        <p>{text.unknown}</p>
        <WideButton onClick={() => (heldInvite.value = null)}>{hasSession() ? text.stay : text.toSignIn}</WideButton>
      </>
    );
  }
  return hasSession() && holds(found) ? <SessionOpen name={nameOf(found)} /> : <Accept invite={invite} found={found} />;
}

function Accept({ invite, found }: { invite: string; found: Invite }) {
  const action = useAction(async () => {
    await (found.local_sign_in ? post("/sign_in", {}, { invite }) : createPasskey(invite));
    await enter();
  });
  // The page does not know this open session, because the current account's session has ended.
  if (action.error instanceof ApiError && action.error.code === "session_open") {
    return <SessionOpen name={nameOf(found)} onLeft={action.clear} />;
  }
  const title = found.is_recovery ? text.recoveryTitle : text.inviteTitle;
  const current = accountName();
  return (
    <>
      <Heading title={title(nameOf(found))} />
      <dl class="facts">
        <div>
          <dt>{text.invitedAs}</dt>
          <dd>{found.member_name}</dd>
        </div>
        <div>
          <dt>{text.role}</dt>
          <dd>
            {ROLE_NAMES[found.role]} <span class="note">{ROLE_HINTS[found.role]}</span>
          </dd>
        </div>
        <div>
          <dt>{text.validUntil}</dt>
          <dd>{timeText(found.expires_at)}</dd>
        </div>
      </dl>
      <FormError error={action.error} />
      <div class="stack">
        <WideRun of={action}>
          {found.local_sign_in ? text.local : action.isRunning ? text.waiting : text.create}
        </WideRun>
        {current && <WideButton onClick={() => (heldInvite.value = null)}>{text.notNow}</WideButton>}
      </div>
      <p class="note">{found.local_sign_in ? text.localHint : text.createHint}</p>
      {current && <p class="note">{text.besides(current)}</p>}
    </>
  );
}
