// Messages at the foot of the page: one at a time, beside what they are about, with a sign, and none on another page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, WIDTHS } from "./support/browser.mjs";
import { look } from "./support/gallery.mjs";
import { suite } from "./support/suite.mjs";

let cookie;
const shared = suite({ facts: false }, async (signpost) => {
  cookie = await signpost.signIn();
});

const APP = "/dashboard/apps/10000002";
const message = (page) => page.locator(".status p");

for (const width of WIDTHS) {
  for (const block of ["start", "end"]) {
    test(`a message does not cover what it is about, at the ${block} of ${width} px`, async () => {
      const act = async (page) => {
        const copy = page.getByRole("button", { name: "Copy App-Id" });
        const save = page.getByRole("region", { name: "Blocked offers" }).getByRole("button", { name: "Save" });
        await page.getByLabel("Offer IDs, one per line").fill(`${Math.floor(Math.random() * 1e6)}`);
        const button = block === "start" ? copy : save;
        await button.evaluate((element, block) => element.scrollIntoView({ block }), block);
        await button.click();
        await message(page).waitFor();
        const [one, other] = [await message(page).boundingBox(), await button.boundingBox()];
        assert.ok(one.y >= other.y + other.height || one.y + one.height <= other.y, "they do not overlap");
        assert.equal(await message(page).locator("svg").count(), 1);
      };
      await look(shared, `message-${block}`, { path: APP, cookie, act, isOverlay: true }, width);
    });
  }
}

test("equal messages are one, and another page has none", async () => {
  const page = await shared.open({ cookie });
  await page.goto(APP);
  const copy = page.getByRole("button", { name: "Copy App-Id" });
  await copy.click();
  await copy.click();
  await message(page).waitFor();
  assert.equal(await message(page).count(), 1);
  await page.waitForTimeout(600);
  await page.getByRole("link", { name: "Reports", exact: true }).click();
  await message(page).waitFor({ state: "detached", timeout: 1000 });
  await closePage(page);
});
