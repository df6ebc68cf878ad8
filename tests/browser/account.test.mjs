// An owner manages keys, members, passkeys and sessions: by mouse and again by keyboard alone, on a wide screen and on a phone.
// Nothing stands in the console.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, SIGNED_OUT } from "./support/browser.mjs";
import { HANDS, Mouse, WAYS } from "./support/hands.mjs";
import { addAuthenticator, call } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";
import { acceptInvite, signInAgain, signOut } from "./tasks/ceremony.mjs";
import * as settings from "./tasks/settings.mjs";

const shared = suite({ localSignIn: false, facts: false });

for (const [Hand, width] of WAYS) {
  test(`an owner manages the account by ${Hand.handName} at ${width} px`, async () => {
    const { signpost } = shared;
    const publisher = await signpost.addPublisher("Kite Games");
    const { pub_key: pubKey } = await signpost.operator("POST", `/publishers/${publisher}/pub_key`);
    const page = await shared.open({ width, refusals: [SIGNED_OUT, [409, /members/]] });
    const hand = new Hand(page);
    const authenticator = await addAuthenticator(page);
    await acceptInvite(page, hand, await signpost.invite(publisher), { publisher: "Kite Games", member: "Ana Ruiz" });

    const key = await settings.manageKeys(page, hand, "Looker");
    // The account has no facts.
    assert.equal(await reportStatus(signpost, key), 204);
    await settings.revokeKey(page, hand, "Looker");
    assert.equal(await reportStatus(signpost, key), 401);
    await settings.readPubKey(page, hand, pubKey);
    await settings.askForPubKey(page, hand, "It was published by mistake.");
    await signpost.operator("POST", `/publishers/${publisher}/pub_key`);
    await page.reload();
    await page.getByRole("button", { name: "Ask for a new one" }).waitFor();

    await settings.inviteMember(page, hand, "Kenji Sato");
    await settings.withdrawInvite(page, hand, "Kenji Sato");
    const invite = await settings.inviteMember(page, hand, "Mia Chen");
    const other = await shared.open({ width, refusals: [SIGNED_OUT] });
    await addAuthenticator(other);
    await acceptInvite(other, new Hand(other), invite, { publisher: "Kite Games", member: "Mia Chen" });
    await page.reload();
    await settings.changeMembers(page, hand, { name: "Mia Chen", self: "Ana Ruiz" });
    await other.goto("/dashboard/reports");
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await closePage(other);

    const second = await shared.open({ width, refusals: [SIGNED_OUT] });
    await addAuthenticator(second, { credentials: await authenticator.credentials() });
    await second.goto("/dashboard/settings/audit");
    await signInAgain(second, new Hand(second), "Audit log");
    await settings.endOtherSession(page, hand);
    await second.reload();
    await second.getByRole("heading", { name: "Sign in" }).waitFor();
    await closePage(second);

    await settings.addPasskey(page, hand, authenticator);
    await settings.removeOldPasskey(page, hand);
    await signOut(page, hand);
    await signInAgain(page, hand, "Your passkeys");

    const actions = [
      ...["Created a report key", "Asked for a new Pub-Key", "Withdrew an invite", "Removed a member"],
      ...["Signed out a session", "Removed a passkey"],
    ];
    await settings.readAudit(page, hand, actions);
    await closePage(page);
  });
}

for (const [Hand, width] of WAYS) {
  test(`an owner removes a developer with a report key by ${Hand.handName} at ${width} px`, async () => {
    const { owner, developer, keys } = await withDeveloper(Hand, width);
    const { page, hand } = owner;
    const dialog = await settings.askToRemove(page, hand, "Tom Weber", ["Looker", "Nightly export"]);
    await dialog.getByText("As a developer, they could read these.").waitFor();
    const places = { "Pub-Key": "/dashboard/settings/pub_key", Apps: "/dashboard/apps" };
    for (const [name, path] of Object.entries({ ...places, "Audit log": "/dashboard/settings/audit" })) {
      assert.equal(await dialog.getByRole("link", { name, exact: true }).getAttribute("href"), path);
    }
    await hand.tick(dialog.getByRole("checkbox", { name: /^Nightly export/ }), false);
    await hand.press(dialog.getByRole("button", { name: "Remove and revoke 1 key", exact: true }));
    await page.getByText("Tom Weber was removed. 1 report key was revoked.").waitFor({ state: "attached" });
    await page.getByLabel("Role of Tom Weber").waitFor({ state: "detached" });
    assert.equal(await reportStatus(shared.signpost, keys.Looker), 401);
    assert.equal(await reportStatus(shared.signpost, keys["Nightly export"]), 204, "a key without a tick works on");
    assert.equal(await reportStatus(shared.signpost, keys.BigQuery), 204, "a key of someone else works on");

    await developer.goto("/dashboard/reports");
    await developer.getByRole("heading", { name: "Sign in" }).waitFor();
    await developer.getByRole("button", { name: "Sign in with a passkey" }).click();
    await developer.getByText(/^This passkey is unknown/).waitFor();
    await closePage(developer);
    await closePage(page);
  });
}

for (const Hand of HANDS) {
  test(`an owner makes a key that erases users, and a developer does not, by ${Hand.handName}`, async () => {
    const { owner, developer } = await withDeveloper(Hand, 1440);
    const { signpost } = shared;
    const key = await settings.makePrivacyKey(owner.page, owner.hand, "Support desk");
    assert.equal(await reportStatus(signpost, key), 401, "it reads no reports");
    const erased = await fetch(`${signpost.base}/v1/core/users/erase`, {
      method: "POST",
      headers: { "X-Api-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify({ user_id: "player-1" }),
    });
    assert.deepEqual([erased.status, await erased.json()], [200, { apps: 0, erased: 0, waiting: 0, cursor: null }]);
    await settings.readAudit(owner.page, owner.hand, ["Erased a user", /^key Support desk \([0-9a-f]{16}\)$/]);
    await closePage(owner.page);

    await settings.makeReportKey(developer, new Hand(developer), "Tableau");
    assert.equal(
      (await call(developer, "POST", "/report_keys", { label: "a", scope: "ia-privacy.WRITE" })).status,
      403,
    );
    await developer.goto("/dashboard/rewards");
    await developer.getByRole("heading", { name: "No rewards yet" }).waitFor();
    assert.equal(await developer.getByRole("button", { name: "A user's data" }).count(), 0);
    await closePage(developer);
  });
}

test("a member stays while a key cannot be revoked, and without the list of keys can be removed", async () => {
  const { owner, developer, keys } = await withDeveloper(Mouse, 1440);
  const { page, hand } = owner;
  let left = 1;
  await page.route(/\/report_keys\/[0-9a-f]+$/, (route) => {
    left -= 1;
    // The first key is revoked.
    return left >= 0 ? route.fallback() : route.fulfill({ status: 503, json: { error: "busy", code: "unavailable" } });
  });
  const dialog = await settings.askToRemove(page, hand, "Tom Weber", ["Looker", "Nightly export"]);
  await dialog.getByRole("button", { name: "Remove and revoke 2 keys", exact: true }).click();
  await dialog.getByText(/^“.*” was not revoked, so Tom Weber was not removed/).waitFor();
  await dialog.getByRole("button", { name: "Remove and revoke 1 key", exact: true }).waitFor();
  const statuses = [await reportStatus(shared.signpost, keys.Looker)];
  statuses.push(await reportStatus(shared.signpost, keys["Nightly export"]));
  assert.deepEqual(statuses.sort(), [204, 401]);
  assert.equal((await call(developer, "GET", "/overview")).status, 200, "the member is not removed");

  // A member can be removed even if the ledger does not answer.
  await page.route(/\/report_keys$/, (route) =>
    route.fulfill({ status: 503, json: { error: "busy", code: "unavailable" } }),
  );
  await page.reload();
  await page.getByRole("button", { name: "Remove Tom Weber" }).click();
  await dialog.getByText(/^You can remove the member without the list/).waitFor();
  await dialog.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText("Tom Weber was removed.").waitFor({ state: "attached" });
  assert.equal((await call(developer, "GET", "/overview")).status, 401);
  await closePage(developer);
  await closePage(page);
});

/** An owner and a developer with pages of their own, and the texts of report keys by their labels. One is the owner's. */
async function withDeveloper(Hand, width) {
  const { signpost } = shared;
  const publisher = await signpost.addPublisher("Kite Games");
  const refusals = [SIGNED_OUT, [401, /passkey/], [403, /report_keys/], [503, /report_keys/]];
  const join = async (role, member) => {
    const page = await shared.open({ width, refusals });
    await addAuthenticator(page);
    const hand = new Hand(page);
    await acceptInvite(page, hand, await signpost.invite(publisher, role, member), { publisher: "Kite Games", member });
    return { page, hand };
  };
  const owner = await join("owner", "Ana Ruiz");
  const { page: developer } = await join("developer", "Tom Weber");
  const keys = {};
  for (const [page, label] of [
    [developer, "Looker"],
    [developer, "Nightly export"],
    [owner.page, "BigQuery"],
  ]) {
    keys[label] = (await call(page, "POST", "/report_keys", { label })).body.api_key;
  }
  await owner.page.goto("/dashboard/settings/members");
  return { owner, developer, keys };
}

/** The status of the smallest report that the public API makes. */
async function reportStatus(signpost, key) {
  const answer = await signpost.report(key, {
    date_range: { start_date: "2026-11-01", end_date: "2026-11-02" },
    dimensions: ["app"],
    metrics: ["revenue"],
  });
  await answer.arrayBuffer();
  return answer.status;
}
