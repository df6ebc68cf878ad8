// The publisher's tasks of clicks.test.mjs. Each begins on the overview, and ends with what the person wanted to see.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { startReceiver } from "../support/receiver.mjs";
import * as apps from "./apps.mjs";

const follow = (page, hand, name) =>
  hand.press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }));
const log = (page) => page.getByRole("table", { name: "Rewards", exact: true });
const inDialog = (page, name) => page.getByRole("dialog").getByRole("button", { name, exact: true });

/** The earnings of last week, and the apps that changed them. */
export async function readLastWeek({ begin, owner }) {
  const { page, hand } = await begin(owner);
  await hand.press(page.getByRole("button", { name: /^Last 30 days/ }));
  await hand.press(page.getByRole("button", { name: "Last week", exact: true }));
  await page.getByText("vs 1 week before").first().waitFor();
  const revenue = await page.locator(".tile", { hasText: "Revenue" }).first().innerText();
  const [total] = /\$[\d,]+\.\d\d/.exec(revenue);
  await hand.press(page.getByRole("link", { name: "Open as a report: Top apps" }));
  const report = page.getByRole("table", { name: "Report", exact: true });
  await page.getByText(/^Compared with /).waitFor();
  await report.locator("tbody .cell-change", { hasText: "%" }).first().waitFor();
  assert.ok((await report.innerText()).includes(total), `the report has ${total}`);
}

export async function exportDays({ begin, owner }) {
  const { page, hand } = await begin(owner);
  await follow(page, hand, "Reports");
  await hand.press(page.getByRole("button", { name: "Export", exact: true }));
  const begun = page.waitForEvent("download");
  await hand.press(inDialog(page, "Export"));
  const file = await begun;
  const rows = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
  assert.equal(rows.length, 1 + 30, "a head, and a row for each day");
}

export async function createAndRevokeKey({ begin, signpost }) {
  const { page, hand } = await begin(await signpost.signIn(await signpost.addPublisher("Kite Games")));
  await follow(page, hand, "Settings");
  await hand.write(page.getByLabel("Label"), "Looker");
  await hand.send();
  const key = page.getByText(/^sk_/);
  await key.waitFor();
  await hand.press(page.getByRole("button", { name: "Revoke Looker" }));
  await hand.press(inDialog(page, "Revoke"));
  await page.getByRole("heading", { name: "No report keys" }).waitFor();
  assert.equal(await key.count(), 0, "a key that is revoked is not shown any more");
}

/** A receiver with nothing at the address, then with the wrong secret, then with no check of signatures. */
export async function setUpApp({ begin, signpost, t }) {
  const receiver = await startReceiver();
  t.after(receiver.stop);
  const tooSoon = [429, /\/callback\/test$/];
  const { page, hand } = await begin(await signpost.signIn(await signpost.addPublisher("Kite Games")), [tooSoon]);
  await apps.setUpByMistakes(page, hand, signpost, receiver);
  await hand.tick(page.getByRole("radio", { name: /^The secret, as usual/ }));
  await apps.testReceiver(page, hand, "Your receiver accepted the call (200).");
}

/** The advertiser reports the test click by itself. */
export async function followTestClick({ begin, owner, tester, user }) {
  const { page, hand } = await begin(owner);
  // Cloudflare adds the country to a click. The page that the offer leads to is not there.
  let location;
  await page.context().route(/\/tracking\/click/, async (route) => {
    const headers = { ...(await route.request().allHeaders()), "CF-IPCountry": "DE" };
    location = (await route.fetch({ headers, maxRedirects: 0 })).headers().location;
    await route.fulfill({ body: "the offer" });
  });
  const health = page.getByRole("table", { name: "Callback health" });
  await hand.press(health.getByRole("link", { name: `App of ${tester.id}`, exact: true }));
  await hand.press(page.getByRole("link", { name: "Offers", exact: true }));
  await hand.write(page.getByLabel("User ID"), user);
  await hand.send();
  const opened = page.waitForEvent("popup");
  await hand.press(page.getByRole("link", { name: "Open it (makes a click)" }));
  const popup = await opened;
  await popup.getByText("the offer").waitFor();
  await tester.convert(/[?&]clickid=([^&]+)/.exec(location)[1]);
  await popup.close();
  const pages = page.getByRole("navigation", { name: "App", exact: true });
  await hand.press(pages.getByRole("link", { name: "Rewards" }));
  await hand.press(log(page).getByRole("row").filter({ hasText: user }).getByRole("link"));
  await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
  await page.getByText("The user clicked the offer.").waitFor();
}

/** Another callback of the same app was given up today, and is not sent again. */
export async function replayYesterday({ begin, owner, late }) {
  const { page, hand } = await begin(owner);
  late.receiver.failsWith = null;
  await hand.press(page.getByRole("link", { name: `Send again: given up, App of ${late.id}` }));
  await hand.press(page.getByRole("dialog").getByRole("button", { name: "Conversions (UTC): Any time" }));
  await hand.press(inDialog(page, "Yesterday"));
  await hand.press(inDialog(page, "Send 1 callback again"));
  await page.getByText("1 callback was queued to be sent again.").waitFor();
  // The callback no longer counts as given up, so it leaves the list.
  await log(page).getByText("yesterday", { exact: true }).waitFor({ state: "detached" });
  await log(page).getByText("today", { exact: true }).waitFor();
  let delivered = [];
  while (delivered.length === 0) {
    await page.waitForTimeout(200);
    delivered = late.receiver.calls.filter(({ status }) => status === 200);
  }
  assert.deepEqual(
    delivered.map(({ query }) => query.user_id),
    ["yesterday"],
  );
}

/** The role stays as the dialog suggests it. The link is there to be sent. */
export async function inviteColleague({ begin, owner, user }) {
  const { page, hand } = await begin(owner);
  await follow(page, hand, "Settings");
  await hand.press(page.getByRole("link", { name: "Members", exact: true }));
  await hand.press(page.getByRole("button", { name: "Invite a member" }));
  await hand.write(page.getByLabel("Name"), user);
  await hand.send();
  await page
    .getByRole("dialog")
    .getByText(/#invite=inv_/)
    .waitFor();
}
