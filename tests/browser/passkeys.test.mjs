// Wrong passkeys. The server refuses each, with the reason in its log. Where the browser does nothing wrong itself, the
// test alters its answer, and signs it again with the authenticator's key if the signature is not the point.

import assert from "node:assert/strict";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { closePage, SIGNED_OUT } from "./support/browser.mjs";
import { answerOnce } from "./support/faults.mjs";
import { Mouse } from "./support/hands.mjs";
import { addAuthenticator, assertion, call, flipBit, registration } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";
import { acceptInvite, signInAgain, signOut } from "./tasks/ceremony.mjs";

const shared = suite({ localSignIn: false, facts: false });

const REFUSALS = [
  SIGNED_OUT,
  [403, "/v1/dashboard/report_keys"],
  [401, /^\/v1\/dashboard\/(sign_in\/passkey|verify|passkeys)$/],
];

const REFUSED = { status: 401, code: "passkey_refused" };

/** A page whose authenticator has the passkey of a new member, who is signed out. */
async function memberOf(name, publisher) {
  const page = await shared.open({ refusals: REFUSALS });
  const hand = new Mouse(page);
  const authenticator = await addAuthenticator(page);
  const invite = await shared.signpost.invite(publisher);
  await acceptInvite(page, hand, invite, { publisher: name, member: "Ana Ruiz" });
  await signOut(page, hand);
  return { page, hand, authenticator };
}

const newMember = async () => memberOf("Kite Games", await shared.signpost.addPublisher("Kite Games"));

async function requestOptions(page, path = "/passkeys/request") {
  const { status, body } = await call(page, "POST", path, {});
  assert.equal(status, 200);
  return body.options;
}

async function send(page, path, body) {
  const { status, code } = await call(page, "POST", path, body);
  return { status, code };
}

const signIn = (page, credential) => send(page, "/sign_in/passkey", { credential });

/** The call is refused, and the log has this reason. Signpost logs ten in a minute, so some tests go without. */
async function refusedFor(reason, attempt) {
  const before = shared.signpost.log.length;
  assert.deepEqual(await attempt(), REFUSED, reason);
  const line = `"what":"${reason}"`;
  // The line can arrive after the answer.
  for (let waits = 0; !shared.signpost.log.slice(before).includes(line); waits += 1) {
    assert.ok(waits < 40, `the log has the reason ${reason}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Client data or authenticator data of an answer, changed and signed again with the passkey's own key. */
async function signedAgain(authenticator, credential, change) {
  const stored = (await authenticator.credentials()).find(
    ({ credentialId }) => Buffer.from(credentialId, "base64").toString("base64url") === credential.id,
  );
  const clientData = JSON.parse(Buffer.from(credential.response.clientDataJSON, "base64url"));
  const authenticatorData = Buffer.from(credential.response.authenticatorData, "base64url");
  change({ clientData, authenticatorData });
  const json = Buffer.from(JSON.stringify(clientData));
  const message = Buffer.concat([authenticatorData, createHash("sha256").update(json).digest()]);
  const key = createPrivateKey({ key: Buffer.from(stored.privateKey, "base64"), format: "der", type: "pkcs8" });
  const response = {
    ...credential.response,
    clientDataJSON: json.toString("base64url"),
    authenticatorData: authenticatorData.toString("base64url"),
    signature: sign("sha256", message, key).toString("base64url"),
  };
  return { ...credential, response };
}

test("an answer that signed in does so once", async () => {
  const { page, authenticator } = await newMember();
  const credential = await assertion(page, await requestOptions(page));
  assert.equal((await signIn(page, credential)).status, 204);
  assert.equal((await call(page, "POST", "/sign_out", {})).status, 204);
  assert.deepEqual(await signIn(page, credential), REFUSED, "the counter did not grow");
  const later = await signedAgain(authenticator, credential, ({ authenticatorData }) =>
    authenticatorData.writeUInt32BE(authenticatorData.readUInt32BE(33) + 1, 33),
  );
  assert.deepEqual(await signIn(page, later), REFUSED, "the challenge is spent");
  await closePage(page);
});

test("an answer with a changed signature, client data or authenticator data is refused", async () => {
  const { page, authenticator } = await newMember();
  for (const part of ["signature", "authenticatorData"]) {
    const credential = await assertion(page, await requestOptions(page));
    credential.response[part] = flipBit(credential.response[part]);
    assert.deepEqual(await signIn(page, credential), REFUSED, part);
  }
  const changes = {
    origin: ({ clientData }) => (clientData.origin = "http://localhost.evil.example"),
    cross_origin: ({ clientData }) => (clientData.crossOrigin = true),
    ceremony_type: ({ clientData }) => (clientData.type = "webauthn.create"),
    rp_id: ({ authenticatorData }) => (authenticatorData[0] ^= 1),
    user_not_present: ({ authenticatorData }) => (authenticatorData[32] &= ~1),
    user_not_verified: ({ authenticatorData }) => (authenticatorData[32] &= ~4),
  };
  for (const [reason, change] of Object.entries(changes)) {
    const credential = await assertion(page, await requestOptions(page));
    const altered = await signedAgain(authenticator, credential, change);
    await refusedFor(reason, () => signIn(page, altered));
  }
  // Signed again without a change it is good, so the refusals above are for what was changed.
  const credential = await assertion(page, await requestOptions(page));
  assert.equal((await signIn(page, await signedAgain(authenticator, credential, () => {}))).status, 204);
  await closePage(page);
});

test("an answer to another challenge, another browser's or another ceremony's is refused", async () => {
  const { page, authenticator, hand } = await newMember();
  const options = await requestOptions(page);
  const own = Buffer.alloc(32, 7).toString("base64url");
  assert.deepEqual(await signIn(page, await assertion(page, { ...options, challenge: own })), REFUSED);

  const other = await shared.open({ refusals: REFUSALS });
  await addAuthenticator(other, { credentials: await authenticator.credentials() });
  await other.goto("/dashboard");
  await requestOptions(other);
  const foreign = await assertion(other, await requestOptions(page));
  assert.deepEqual(await signIn(other, foreign), REFUSED);
  await closePage(other);

  // A challenge of a sign-in confirms no change within a session.
  const forSignIn = await requestOptions(page);
  await signInAgain(page, hand, "Overview");
  const credential = await assertion(page, forSignIn);
  assert.deepEqual(await send(page, "/verify", { credential }), REFUSED);
  await closePage(page);
});

test("an answer that the browser made for another origin is refused", async () => {
  const { page } = await newMember();
  const options = await requestOptions(page);
  // Passkeys are of a host, so a page of another port of it may ask for them.
  const server = createServer((_, response) => response.end("<!doctype html><title>Another origin</title>"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await page.goto(`http://localhost:${server.address().port}/dashboard`);
    const credential = await assertion(page, options);
    assert.ok(credential.response.signature);
    await page.goto("/dashboard");
    await refusedFor("origin", () => signIn(page, credential));
  } finally {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }
  await closePage(page);
});

test("a passkey without a check of the person is refused, by the page and by the server", async () => {
  const { page, authenticator } = await newMember();
  await authenticator.setUserVerified(false);
  const options = await requestOptions(page);
  assert.equal(options.userVerification, "required");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByText(/No passkey was used/).waitFor();
  const unverified = await assertion(page, { ...options, userVerification: "discouraged" });
  assert.deepEqual(await signIn(page, unverified), REFUSED);
  await closePage(page);
});

test("a first passkey is refused for a wrong challenge, without a check of the person, and for a spent invite", async () => {
  const publisher = await shared.signpost.addPublisher("Kite Games");
  const invite = (await shared.signpost.invite(publisher)).split("#invite=")[1];
  const page = await shared.open({ refusals: [...REFUSALS, [404, "/v1/dashboard/passkeys"]] });
  await page.goto("/dashboard");
  await addAuthenticator(page);
  const creation = async () => (await call(page, "POST", "/passkeys/creation", { invite })).body.options;
  const store = (credential) => send(page, "/passkeys", { invite, credential });

  const options = await creation();
  const challenge = Buffer.alloc(32, 7).toString("base64url");
  const strange = await registration(page, { ...options, challenge });
  assert.deepEqual(await store(strange), REFUSED);

  // A first passkey is not signed: the flags can be changed as they stand.
  const unverified = await registration(page, await creation());
  const flags = Buffer.from(unverified.response.authenticatorData, "base64url");
  flags[32] &= ~4;
  unverified.response.authenticatorData = flags.toString("base64url");
  assert.deepEqual(await store(unverified), REFUSED);

  const good = await registration(page, await creation());
  assert.equal((await store(good)).status, 204);
  assert.equal((await call(page, "POST", "/sign_out", {})).status, 204);
  assert.deepEqual(await store(good), { status: 404, code: "unknown_invite" });
  await closePage(page);
});

test("a passkey of another account signs in to that account alone", async () => {
  const kite = await newMember();
  const publisher = await shared.signpost.addPublisher("Otter Works");
  const otter = await memberOf("Otter Works", publisher);
  const { page } = kite;

  // Confirming a change of one account with another account's passkey.
  await signInAgain(page, kite.hand, "Overview");
  const options = await requestOptions(page, "/verify/request");
  const foreign = await assertion(otter.page, options);
  assert.deepEqual(await send(page, "/verify", { credential: foreign }), REFUSED);
  await signOut(page, kite.hand);

  // Its credential under the other account's user handle.
  const own = await assertion(page, await requestOptions(page));
  const handle = foreign.response.userHandle;
  const mixed = { ...own, response: { ...own.response, userHandle: handle } };
  assert.deepEqual(await signIn(page, mixed), REFUSED);
  await closePage(page);
  await closePage(otter.page);
});

test("a change asks for a fresh passkey, and is carried out after it", async () => {
  const { page, hand } = await newMember();
  await signInAgain(page, hand, "Overview");
  await page.goto("/dashboard/settings/keys");
  // Five minutes after a sign-in the server answers so; a test does not wait for them.
  await answerOnce(page, "POST", "report_keys", { status: 403, code: "verify_first" });
  page.requests.length = 0;
  await page.getByLabel("Label").fill("Tableau");
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByText(/^sk_/).waitFor();
  assert.deepEqual(
    page.requests.filter((request) => request.startsWith("POST")),
    ["report_keys", "verify/request", "verify", "report_keys"].map((path) => `POST /v1/dashboard/${path}`),
  );
  await closePage(page);
});
