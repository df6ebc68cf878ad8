// Passkey ceremonies: create a passkey with an invite, add another one, sign in, and confirm a sensitive change.

import { accountApi as api } from "./account-api";

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

async function ceremony(start: () => Promise<Credential | null>): Promise<object> {
  if (!passkeysSupported()) throw new PasskeyError("unsupported");
  try {
    const credential = (await start()) as PublicKeyCredential | null;
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

const getCredential = (options: PublicKeyCredentialRequestOptionsJSON) =>
  ceremony(() => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }));

const createCredential = (options: PublicKeyCredentialCreationOptionsJSON) =>
  ceremony(() =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );

export async function createPasskey(invite: string): Promise<void> {
  if (!passkeysSupported()) throw new PasskeyError("unsupported");
  const { options } = await api.creationOptions(invite);
  await api.storePasskey(invite, await createCredential(options));
}

/** Adds another passkey for the member who is signed in. */
export async function addPasskey(): Promise<void> {
  if (!passkeysSupported()) throw new PasskeyError("unsupported");
  const { options } = await api.additionOptions();
  const credential = await createCredential(options);
  await api.addPasskey(credential);
}

export async function signInWithPasskey(): Promise<void> {
  if (!passkeysSupported()) throw new PasskeyError("unsupported");
  const { options } = await api.requestOptions();
  await api.signInWithPasskey(await getCredential(options));
}

/** Confirms with a passkey that the member is still there. */
export async function verify(): Promise<void> {
  const { options } = await api.verifyOptions();
  await api.verify(await getCredential(options));
}
