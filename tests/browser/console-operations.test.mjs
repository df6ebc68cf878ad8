// The console's pages for open items, search, rewards and service, on a wide screen and on a phone, in light and dark.

import { test } from "node:test";
import { operations } from "./gallery/console-operations.mjs";
import { WIDTHS } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { look } from "./support/gallery.mjs";
import { advertiserToken, report, SURVEY, VISIT } from "./support/rewards.mjs";
import { suite } from "./support/suite.mjs";

let views;
const shared = suite({ facts: false }, async (signpost) => {
  const surveys = await advertiserToken(signpost, SURVEY.advertiser);
  const visits = await advertiserToken(signpost, VISIT.advertiser);
  const user = "user-of-the-gallery";
  const approved = await report(signpost, surveys, SURVEY, user);
  const held = await report(signpost, visits, VISIT, "user-who-was-too-fast");
  await report(signpost, surveys, SURVEY, user);
  views = operations({
    admin: await signInToConsole(signpost),
    support: await signInToConsole(signpost, "support", "Sam Idowu"),
    rewards: { approved: approved.transactionId, held: held.transactionId },
    click: approved.clickId,
    user,
  });
});

for (const name of Object.keys(operations({}))) {
  for (const width of WIDTHS) test(`${name} at ${width} px`, () => look(shared, name, views[name], width));
}
