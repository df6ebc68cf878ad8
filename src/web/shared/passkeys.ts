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

/** Asks the server for the options, and the browser for a passkey. */
async function ceremony<Options>(
  ask: () => Promise<{ options: Options }>,
  start: (options: Options) => Promise<Credential | null>,
): Promise<object> {
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

const getCredential = (ask: typeof api.requestOptions) =>
  ceremony(ask, (options) =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  );

const createCredential = (ask: typeof api.additionOptions) =>
  ceremony(ask, (options) =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );

export const createPasskey = async (invite: string) =>
  api.storePasskey(invite, await createCredential(() => api.creationOptions(invite)));

/** Adds another passkey for the member who is signed in. */
export const addPasskey = async () => api.addPasskey(await createCredential(api.additionOptions));

export const signInWithPasskey = async () => api.signInWithPasskey(await getCredential(api.requestOptions));

/** Confirms with a passkey that the member is still there. */
export const verify = async () => api.verify(await getCredential(api.verifyOptions));
