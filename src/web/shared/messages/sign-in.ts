// Text of the sign-in view.

import { HIGHEST } from "#site";

export const signIn = {
  title: "Sign in",
  console: "the console",
  intro: "Use the passkey that you made when you accepted your invite.",
  withPasskey: "Sign in with a passkey",
  waiting: "Waiting for your passkey…",
  noPasskey: `No passkey yet, or lost it? An ${HIGHEST} of your account can send you an invite link.`,
  checking: "Checking your invite…",
  inviteTitle: (publisher: string) => `Join ${publisher}`,
  recoveryTitle: (publisher: string) => `Get back into ${publisher}`,
  invitedAs: "Invited as",
  role: "Role",
  validUntil: "Valid until",
  create: "Create a passkey",
  createHint: "Your device asks for your fingerprint, face or PIN. There is no password to remember.",
  local: "Sign in",
  localHint: "This is a local installation, so no passkey is needed.",
  unknownTitle: "This invite link does not work",
  unknown: "It was used already, has expired, or was copied in part. Ask the person who sent it for a new one.",
  toSignIn: "Sign in with a passkey instead",
  openTitle: (publisher: string) => `You are signed in to ${publisher} already`,
  open: "Sign out first to use this invite. It signs you out of all accounts in this browser.",
  besides: (publisher: string) => `You stay signed in to ${publisher}. The account menu changes between the two.`,
  notNow: "Not now",
  addTitle: "Add another account",
  addIntro: "Use the passkey of the other account. You stay signed in to this one.",
  leave: "Sign out and use the invite",
  stay: "Stay signed in",
  suspendedTitle: "This account is suspended",
  suspended:
    "Nobody can sign in to it, and its apps get no offers. Its reports and settings are kept. Ask support what has to be done.",
  otherAccount: "Sign in to another account",
  expired: "Your session has ended. Sign in to go on where you were.",
};
