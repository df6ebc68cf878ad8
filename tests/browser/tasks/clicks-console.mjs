// The operator's tasks of clicks.test.mjs. Each begins on the console's first page, and ends with what the person wanted to see.

import assert from "node:assert/strict";
import { report, VISIT } from "../support/rewards.mjs";
import { find, follow } from "./console-walk.mjs";
import { chooseFile } from "./console-offers.mjs";

const dialog = (page) => page.getByRole("dialog");
const inDialog = (page, name) => dialog(page).getByRole("button", { name });
const field = (page, label) => page.getByRole("textbox", { name: label, exact: true });
const heading = (page, name) => page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
const openTile = (page, hand, name) =>
  hand.press(page.getByRole("navigation", { name: "Kinds" }).getByRole("link", { name }));

export async function approvePublisher({ begin, admin, signpost, user }) {
  const id = await signpost.addPublisher(user, false);
  const { page, hand } = await begin(admin);
  await openTile(page, hand, /^Publishers to approve \d+$/);
  await hand.press(page.getByRole("link", { name: `Approve: ${user}`, exact: true }));
  await hand.press(inDialog(page, "Approve"));
  await page.locator(".heading .badge").getByText("Approved", { exact: true }).waitFor();
  assert.equal(new URL(page.url()).hash, "", "a reload asks nothing");
  assert.ok((await signpost.operator("GET", `/publishers/${id}`)).approved);
}

export async function createAndRaise({ begin, admin, signpost, user: id }) {
  const { page, hand } = await begin(admin, [
    [404, `/v1/operator/offers/${id}`],
    [404, `/v1/operator/offers/${id}/terms`],
  ]);
  await follow(page, hand, "Offers");
  await hand.press(page.getByRole("button", { name: "Create an offer" }));
  await hand.write(dialog(page).getByLabel("Offer ID"), id);
  await hand.send();
  await heading(page, `New offer ${id}`);
  for (const [label, text] of [
    ["Name", `Kite of ${id}`],
    ["Promoted app", "com.example.kite"],
    ["Icon URL", "https://static.example.com/icon.png"],
    ["Landing page URL", "https://play.google.com/store/apps/details?id=com.example.kite"],
    ["Tracking URL of the advertiser", "https://t.example.com/c?id={click_id}&u={user_id}"],
    ["Goal ID", `${id}-1`],
    ["Payout in USD", "1.25"],
    ["Title", "Reach level 10"],
  ]) {
    if (label === "Promoted app") {
      await hand.write(page.getByRole("combobox", { name: "Advertiser ID" }), "brindlefox-games");
    }
    await hand.write(field(page, label), text);
  }
  await hand.send();
  await hand.press(inDialog(page, "Create"));
  await heading(page, `Kite of ${id}`);

  const payout = field(page, "Payout in USD");
  await hand.write(payout, "");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("1.5");
  await hand.send();
  await dialog(page).getByRole("table", { name: "What changes" }).getByText("$1.50", { exact: true }).waitFor();
  await hand.press(inDialog(page, "Save"));
  await page.getByRole("table", { name: "Terms" }).getByText("$1.50").waitFor();
  assert.equal((await signpost.operator("GET", `/offers/${id}`)).goals[0].payout_usd, 1.5);
}

/** A postback of the advertiser had a wrong token. */
export async function explainRefusal({ begin, admin, refused }) {
  const { page, hand } = await begin(admin);
  await follow(page, hand, "Advertisers");
  await hand.press(page.getByRole("link", { name: `Partner ${refused.id}`, exact: true }));
  await hand.choose(page.getByRole("combobox", { name: "Answer" }), "Token not valid");
  const row = page.getByRole("table", { name: "Postbacks" }).getByRole("row").filter({ hasText: "Token not valid" });
  await row
    .getByText(/Give the advertiser's current token to the person who set up the postback/)
    .first()
    .waitFor();
  await hand.press(row.locator("summary").first());
  await row.getByText("click_id", { exact: true }).first().waitFor();
}

export async function findUser({ begin, admin, earner }) {
  const { page, hand } = await begin(admin, [[404, /./]]);
  await find(page, hand, earner);
  await hand.press(page.getByRole("table", { name: "Rewards of this user" }).getByRole("link").first());
  await heading(page, "Reward, approved");
  await page.getByText(earner, { exact: true }).first().waitFor();
}

/** Two rewards that came too soon after their clicks. */
const hold = ({ signpost, visits, user }) =>
  Promise.all([1, 2].map((number) => report(signpost, visits, VISIT, `${user}-${number}`)));

/** The list hears of changes some seconds later. */
async function untilHeld(signpost, number) {
  while ((await signpost.operator("GET", "/attention?kind=held")).counts.held !== number)
    await new Promise((done) => setTimeout(done, 200));
}

export async function approveHeld(given) {
  await untilHeld(given.signpost, 0);
  await hold(given);
  await untilHeld(given.signpost, 2);
  const { page, hand } = await given.begin(given.admin);
  await openTile(page, hand, /^Held for review 2$/);
  await hand.tick(page.getByRole("checkbox", { name: "Select all 2 shown" }));
  const [sum] = /\$[\d.]+/.exec(await page.getByText(/^2 rewards, \$[\d.]+ in all$/).innerText());
  await hand.press(page.getByRole("button", { name: "Approve…", exact: true }));
  await dialog(page).getByText(`2 rewards of 1 app, ${sum} in all.`).waitFor();
  await hand.write(dialog(page).getByLabel("Reason"), "real players");
  await hand.press(inDialog(page, /^Approve 2 rewards, \$/));
  await dialog(page)
    .getByRole("heading", { name: `2 rewards were approved, ${sum}` })
    .waitFor();
}

/** Wrong lines are named with their number, and the corrected file is checked and ready to import. */
export async function importFile({ begin, admin, user: id }) {
  const line = (resource) => `${JSON.stringify(resource)}\n`;
  const advertiser = line({ kind: "advertiser", id, name: "Imported" });
  const wrong = line({ kind: "offer", id }) + advertiser + "no JSON\n";
  const { page, hand } = await begin(admin, [[400, "/v1/operator/import"]]);
  await hand.write(page.getByRole("search").getByRole("textbox", { name: "Search" }), "import");
  await hand.press(page.getByRole("search").getByRole("link", { name: "Import offers", exact: true }));
  await chooseFile(page, hand, "Choose a file", "wrong.ndjson", wrong);
  const lines = page.getByRole("table", { name: "2 lines are wrong" });
  await lines.getByText("advertiser_id is missing").waitFor();
  assert.deepEqual(await lines.getByRole("rowheader").allInnerTexts(), ["1", "3"]);
  await chooseFile(page, hand, "Choose another file", "right.ndjson", advertiser);
  await page.getByText("1 resource is ready to import").waitFor();
  await page.getByText("1 new, 0 changed, 0 unchanged").waitFor();
  await hand.press(page.getByRole("button", { name: "Import 1 resource" }));
  await page.getByRole("heading", { name: "1 resource was imported" }).waitFor();
}

/** Everything that waits is on the first page; a tile leads to the items of its kind. */
export async function seeWaiting(given) {
  await hold(given);
  const { page, hand } = await given.begin(given.admin);
  await openTile(page, hand, /^Held for review \d+$/);
  await page.waitForURL(/kind=held/);
  const open = page.getByRole("table", { name: "Open items" });
  await open.getByText("Held for review").nth(1).waitFor();
}
