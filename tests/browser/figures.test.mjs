// A member signs in, reads the overview and builds a report: by mouse and again by keyboard alone, on a wide screen and on a
// phone. Nothing stands in the console.

import { test } from "node:test";
import { closePage, SIGNED_OUT } from "./support/browser.mjs";
import { WAYS } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { suite } from "./support/suite.mjs";
import { acceptInvite, signInAgain, signOut } from "./tasks/ceremony.mjs";
import { readOverview } from "./tasks/overview.mjs";
import { buildReport, readAdTagRule } from "./tasks/reports.mjs";

const shared = suite({ localSignIn: false });

for (const [Hand, width] of WAYS) {
  test(`a member joins, leaves, comes back and reads the figures by ${Hand.handName} at ${width} px`, async () => {
    const page = await shared.open({ width, refusals: [SIGNED_OUT] });
    const hand = new Hand(page);
    await addAuthenticator(page);
    const invite = await shared.signpost.invite();
    await acceptInvite(page, hand, invite, { publisher: "Lumen Arcade", member: "Ana Ruiz" });
    await signOut(page, hand);
    await signInAgain(page, hand, "Overview");
    page.requests.length = 0;
    await readOverview(page, hand);
    await buildReport(page, hand);
    await readAdTagRule(page, hand);
    await closePage(page);
  });
}
