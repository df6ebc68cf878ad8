// Every guide of docs/guides/ works, each in a local run of its own: its commands are pasted in order and print the
// output that it shows, and the pages are used as it says.

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { closePage, launch, openPage, SIGNED_OUT } from "./support/browser.mjs";
import { Reader, startRun } from "./support/reader.mjs";
import { ROOT } from "./support/signpost.mjs";

// A test is sent in 5 seconds at the earliest; the page waits by itself.
const REFUSALS = [SIGNED_OUT, [401, "/v1/console/session"], [429, /\/callback\/test$/]];

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const dialogOf = ({ page }) => page.getByRole("dialog");

const APP_DEVELOPER = {
  "1. Sign in": async (reader) => {
    await reader.signIn("dashboard");
    await reader.see("Overview");
  },
  "2. Add a test app": async (reader) => {
    await reader.press("Apps");
    await reader.press("Add a test app");
    await reader.press("Add the test app");
    await reader.see("This is a test app.");
    reader.values["99…"] = new URL(reader.page.url()).pathname.split("/").at(-1);
  },
  "3. Set the callback": async (reader) => {
    const callback = reader.page.getByRole("region", { name: "Callback", exact: true });
    const [url] = /http:[^`]+/.exec(reader.section.text);
    await callback.getByLabel("Callback URL").fill(reader.inRun(url));
    await reader.press("Save", callback);
    await reader.see("Copy the callback secret now");
    const secret = dialogOf(reader).getByText(/^whsec_/);
    reader.values["whsec_…"] = await secret.innerText();
    await reader.press("Done");
  },
  "4. Test the receiver": async (reader) => {
    await reader.press("Send a test");
    await reader.see("Your receiver accepted the call (200).");
    await reader.press("A wrong signature");
    await reader.press("Send a test");
    await reader.see("Your receiver refuses a wrong signature (401).");
  },
  "5. List the offers": async (reader) => {
    await reader.press("Settings");
    await reader.press("Pub-Key");
    await reader.press("Show the Pub-Key");
    const pubKey = await reader.page.getByText(/^[0-9A-F]{32}$/).innerText();
    reader.values["PUB_KEY=…"] = `PUB_KEY=${pubKey}`;
  },
  "6. Click an offer": async (reader) => {
    await reader.followBlocks();
    reader.testPage = await reader.page.context().newPage();
    await reader.testPage.goto(reader.printed);
    await reader.see("Nothing reported yet.", reader.testPage);
  },
  "7. Report the conversion": async (reader) => {
    await reader.press("Report approved", reader.testPage);
    await reader.see("Approved: the reward was paid.", reader.testPage);
    await reader.followBlocks(1);
    await reader.press("Report reversed", reader.testPage);
    await reader.see("Reversed: the reward was taken back.", reader.testPage);
  },
  "8. Read the story of the reward": async (reader) => {
    await reader.press("Rewards");
    await reader.page.getByLabel("App", { exact: true }).selectOption({ label: "Test app" });
    const reward = reader.rewardsOf("player-1").filter({ hasText: "Reversed" }).first();
    await reader.see("HTTP 200", reward);
    await reward.getByRole("link").first().click();
    await reader.see("Reward, reversed");
    await reader.see("The user clicked the offer.");
    await reader.see("Your receiver answered 2xx.");
  },
  "The same in continuous integration": (reader) => reader.makeKey("ci", "Sets up test apps"),
};

const ANALYST = {
  "1. Make a report key": async (reader) => {
    await reader.signIn("dashboard");
    await reader.makeKey("guide");
  },
  "6. Compare with the dashboard": async (reader) => {
    const [address] = /http:[^`]+/.exec(reader.section.text);
    await reader.page.goto(reader.inRun(address));
    for (const text of ["4 rows", "$6,983.59", "Lumen Arcade for Android"]) await reader.see(text);
    await reader.press("Copy as curl");
    await reader.press("Changed days");
    for (const text of ["$743.99", "was $742.49"]) await reader.see(text);
  },
};

const ADVERTISER = {
  "8. See the reward": async (reader) => {
    await reader.signIn("console");
    await reader.press("Advertisers");
    await reader.press("Brindlefox Games");
    const postbacks = reader.page.getByRole("table", { name: "Postbacks" });
    await reader.see("Approved", postbacks);
    await reader.see("Repeated", postbacks);
    await reader.signIn("dashboard");
    await reader.press("Rewards");
    await reader.see("Approved", reader.rewardsOf("guide-user-1"));
    await reader.see("Reversed", reader.rewardsOf("guide-user-2"));
  },
};

const OPERATOR = {
  "1. Sign in to the console": async (reader) => {
    await reader.signIn("console");
    await reader.see("Attention");
  },
  "4. Hand out keys and an invite": async (reader) => {
    await reader.followBlocks();
    [, reader.invite] = reader.printed.split("\n");
  },
  "7. Approve it in the console": async (reader) => {
    await reader.press("Attention");
    await reader.press("Held for review");
    await reader.see("Kite Racer");
    const items = reader.page.getByRole("table", { name: "Open items" }).getByRole("row");
    await reader.press("Decide", items.filter({ hasText: "Kite Racer" }));
    await reader.see("Reward, held");
    await reader.see("The conversion came sooner after the click than a person could manage.");
    await reader.press("Approve…");
    await dialogOf(reader).getByLabel("Reason").fill("the advertiser saw the user play");
    await reader.press("Approve", dialogOf(reader));
    await reader.see("Reward, approved");
    await reader.see("No callback");
  },
  "9. See it as the publisher does": async (reader) => {
    await reader.page.goto(reader.invite);
    await reader.press("Sign in");
    await reader.see("Overview");
    await reader.press("Rewards");
    await reader.see("Approved", reader.rewardsOf("first-user"));
    await reader.press("Reports");
    await reader.see("$4.50");
  },
};

const GUIDES = { "APP-DEVELOPER": APP_DEVELOPER, ANALYST, ADVERTISER, OPERATOR };

describe("every guide leads to what it says", { concurrency: 2 }, () => {
  for (const [guide, steps] of Object.entries(GUIDES)) {
    test(guide, async (context) => {
      const run = await startRun(context);
      const page = await openPage(browser, run, { refusals: REFUSALS });
      const begun = Date.now();
      await new Reader(context, run, page).follow(guide, steps);
      context.diagnostic(`${Math.round((Date.now() - begun) / 1000)} seconds`);
      await closePage(page);
    });
  }
});

test("every guide is followed", async () => {
  const files = await readdir(join(ROOT, "docs/guides"));
  // The recipes are files with tests of their own, and tests/deploy/server.test.mjs follows the guide for one server.
  const others = ["ONE-SERVER", "RECIPES"];
  assert.deepEqual(files.sort(), [...Object.keys(GUIDES), ...others].map((guide) => `${guide}.md`).sort());
});
