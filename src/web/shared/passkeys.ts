// Passkey ceremonies: create a passkey with an invite, add another one, sign in, and confirm a sensitive change.

import { post } from "./api";

/** A ceremony that ended in the browser, before the server was asked. */
export class PasskeyError extends Error {
  constructor(readonly reason: "unsupported" | "cancelled" | "already_stored" | "failed") {
    super(reason);
  }
}

const passkeysSupported = () =>
  typeof PublicKeyCredential === "function" &&
  typeof PublicKeyCredential.parseCreationOptionsFromJSON === "function" &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === "function";

/** Asks the server for the options, and the browser for a passkey. */
async function ceremony<Options>(
  ask: () => Promise<{ options: Options }>,
  start: (options: Options) => Promise<Credential | null>,
): Promise<PublicKeyCredentialJSON> {
  if (!passkeysSupported()) throw new PasskeyError("unsupported");
  const { options } = await ask();
  try {
    const credential = (await start(options)) as PublicKeyCredential | null;
    if (!credential) throw new PasskeyError("cancelled");
    return credential.toJSON();
  } catch (error) {
    if (error instanceof PasskeyError) throw error;
    // A time-out, a missing passkey and a cancellation have the same name, so that a page cannot tell them apart.
    const name = error instanceof DOMException ? error.name : "";
    if (name === "NotAllowedError" || name === "AbortError") throw new PasskeyError("cancelled");
    if (name === "InvalidStateError") throw new PasskeyError("already_stored");
    throw new PasskeyError("failed");
  }
}

const getCredential = (path: "/passkeys/request" | "/verify/request") =>
  ceremony(
    () => post(path, {}),
    (options) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  );

const createCredential = (path: "/passkeys/creation" | "/passkeys/another/creation", body?: { invite: string }) =>
  ceremony(
    () => post(path, {}, body),
    (options) => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );

export const createPasskey = async (invite: string) =>
  post("/passkeys", {}, { invite, credential: await createCredential("/passkeys/creation", { invite }) });

/** Adds another passkey for the member who is signed in. */
export const addPasskey = async () =>
  post("/passkeys/another", {}, { credential: await createCredential("/passkeys/another/creation") });

export const signInWithPasskey = async () =>
  post("/sign_in/passkey", {}, { credential: await getCredential("/passkeys/request") });

/** Confirms with a passkey that the member is still there. */
export const verify = async () => post("/verify", {}, { credential: await getCredential("/verify/request") });
