// Passkeys through Chromium's own ceremonies, with a virtual authenticator in the place of a fingerprint reader.

import { publisherOf } from "./signpost.mjs";

/** Gives a page an authenticator, with the credentials of another one if they are given. */
export async function addAuthenticator(page, { credentials = [] } = {}) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const add = async (credentials) => {
    for (const credential of credentials) await cdp.send("WebAuthn.addCredential", { authenticatorId, credential });
  };
  await add(credentials);
  return {
    /** As another device would have it. */
    replace: async (credentials) => {
      await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
      await add(credentials);
    },
    credentials: async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    setUserVerified: (verified) => cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: verified }),
  };
}

/** A call of the page's own origin: `{status, code, body}`. It names the publisher that the browser is signed in to, if any. */
export async function call(page, method, path, body) {
  const held = (await page.context().cookies()).find(({ value }) => value.startsWith("s_p_"));
  const headers = {
    ...(held && { "X-Publisher": publisherOf(held.value) }),
    ...(body && { "Content-Type": "application/json" }),
  };
  return page.evaluate(
    async ([path, init]) => {
      const answer = await fetch(`/v1/dashboard${path}`, init);
      const json = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
      return { status: answer.status, code: json?.code ?? null, body: json };
    },
    [path, { method, headers, body: body && JSON.stringify(body) }],
  );
}

/** The browser's answer to options for a sign-in or a confirmation, as JSON. */
export const assertion = (page, options) =>
  page.evaluate(async (options) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await navigator.credentials.get({ publicKey })).toJSON();
  }, options);

/** The browser's answer to options for a first passkey, as JSON. */
export const registration = (page, options) =>
  page.evaluate(async (options) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({ publicKey })).toJSON();
  }, options);

/** `text` of base64url with one bit of its last whole byte changed. */
export function flipBit(text) {
  const bytes = Buffer.from(text, "base64url");
  bytes[bytes.length - 1] ^= 1;
  return bytes.toString("base64url");
}
