// An owner manages keys, members, passkeys and sessions: by mouse and again by keyboard alone, on a wide screen and on a phone.
// Nothing stands in the console.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, SIGNED_OUT, WIDTHS } from "./support/browser.mjs";
import { HANDS } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";
import { acceptInvite, signInAgain, signOut } from "./tasks/ceremony.mjs";
import * as settings from "./tasks/settings.mjs";

const shared = suite({ localSignIn: false, facts: false });

for (const Hand of HANDS) {
  for (const width of WIDTHS) {
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
