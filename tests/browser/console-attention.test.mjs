// An operator works through the list of the day: what is held comes by itself, is decided, and is gone.

import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { HANDS } from "./support/hands.mjs";
import { advertiserToken, report, VISIT } from "./support/rewards.mjs";
import { suite } from "./support/suite.mjs";

let admin;
let token;
const shared = suite({ facts: false }, async (signpost) => {
  token = await advertiserToken(signpost, VISIT.advertiser);
  admin = await signInToConsole(signpost);
});

for (const Hand of HANDS) {
  test(`what is held is decided and leaves the list by ${Hand.handName}`, async () => {
    const page = await shared.open({ cookie: admin });
    const hand = new Hand(page);
    await page.goto("/console");
    await page.getByText("All is well").waitFor();
    const { transactionId } = await report(shared.signpost, token, VISIT, `open-${Hand.handName}`);
    const kinds = page.getByRole("navigation", { name: "Kinds" });
    await kinds.getByRole("link", { name: /^Held for review 1$/ }).waitFor();
    await hand.press(kinds.getByRole("link", { name: /^Held for review/ }));
    await page.waitForURL(/kind=held/);
    await hand.press(page.getByRole("link", { name: `Decide: ${transactionId}` }));
    await page.getByRole("heading", { name: "Reward, held for review" }).waitFor();
    await hand.press(page.getByRole("button", { name: "Reject…" }));
    await hand.write(page.getByRole("dialog").getByLabel("Reason"), "a click farm");
    await hand.press(page.getByRole("dialog").getByRole("button", { name: "Reject" }));
    await page.getByRole("heading", { name: "Reward, rejected" }).waitFor();
    await hand.press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Attention" }));
    await page.getByText("All is well").waitFor();
    await closePage(page);
  });
}
