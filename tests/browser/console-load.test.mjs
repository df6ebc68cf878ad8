// Consoles that stay open all day ask little of the catalog, which clicks and offers need.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { signInToConsole } from "./support/console.mjs";
import { SURVEY, WEB_APP } from "./support/rewards.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";

const OPEN = [
  ["", "Attention"],
  [`/advertisers/${SURVEY.advertiser}`, "Postbacks"],
  [`/rewards?app=${WEB_APP}`, "Rewards"],
  ["/service", "Service"],
  [`/publishers/${DEMO}`, "Apps"],
];
const SECONDS = 20;

/** Other objects alone answer these. */
const OTHERS = /^\/v1\/(console\/session|operator\/attention)$/;

let admin;
const shared = suite({ facts: false }, async (signpost) => {
  admin = await signInToConsole(signpost);
});

test("five open consoles ask the catalog less than once a second", async () => {
  const pages = [];
  for (const [path, heading] of OPEN) {
    const page = await shared.open({ cookie: admin });
    await page.goto(`/console${path}`);
    await page.getByRole("heading", { name: heading, exact: true }).waitFor();
    await page.waitForFunction(() => !document.querySelector(".skeleton, [aria-busy=true]"));
    pages.push(page);
  }
  for (const page of pages) page.requests.length = 0;
  await pages[0].waitForTimeout(SECONDS * 1000);
  const asked = pages.flatMap(({ requests }) => requests).filter((request) => request.includes(" /v1/"));
  const ofCatalog = asked.filter((request) => !OTHERS.test(request.split(" ")[1]));
  for (const path of [`/advertisers/${SURVEY.advertiser}/postbacks`, "/attention"]) {
    assert.ok(asked.includes(`GET /v1/operator${path}`), `${path} is kept up to date`);
  }
  assert.ok(ofCatalog.length < SECONDS, `${ofCatalog.length} in ${SECONDS} s: ${ofCatalog.join(", ")}`);
  for (const page of pages) await closePage(page);
});
