// The operator creates an offer, corrects it, switches it off, and imports a file.

import assert from "node:assert/strict";

const dialog = (page) => page.getByRole("dialog");
const inDialog = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const heading = (page, name) => page.getByRole("heading", { name, exact: true, level: 1 });
const field = (page, label) => page.getByRole("textbox", { name: label, exact: true });
export const said = (page, text) => page.locator(".status").getByText(text).first().waitFor({ state: "attached" });

/** Writes over what a field has. */
async function overwrite(page, hand, target, text) {
  await hand.write(target, "");
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
}

const isInvalid = async (target) => (await target.getAttribute("aria-invalid")) === "true";

/** Every error is shown at its field, by the page or by Signpost, before the offer is created. */
export async function createOffer(page, hand, { id, goal, takenGoal, name }) {
  await page.goto("/console/offers");
  await hand.press(page.getByRole("button", { name: "Create an offer" }));
  await hand.write(dialog(page).getByLabel("Offer ID"), id);
  await hand.press(inDialog(page, "Continue to the editor"));
  await heading(page, `New offer ${id}`).waitFor();
  const review = page.getByRole("button", { name: "Review and save" });

  await hand.press(review);
  await page.getByText("Some fields need a correction.").waitFor();
  assert.ok(await isInvalid(field(page, "Name")));
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-invalid") === "true");
  await hand.write(field(page, "Name"), name);
  await hand.write(page.getByRole("combobox", { name: "Advertiser ID" }), "brindlefox-games");
  await page.getByText("Brindlefox Games", { exact: true }).first().waitFor();
  await hand.write(field(page, "Promoted app"), "com.example.kite");
  await hand.write(field(page, "Icon URL"), "ftp://static.example.com/icon.png");
  await hand.write(field(page, "Landing page URL"), "https://play.google.com/store/apps/details?id=com.example.kite");
  await hand.write(field(page, "Tracking URL of the advertiser"), "https://t.example.com/c?id={click_id}&u={user_id}");
  await hand.write(field(page, "Only in these countries"), "de, qq");
  await hand.write(field(page, "Goal ID"), takenGoal);
  await hand.write(field(page, "Payout in USD"), "1.2345678");
  await hand.write(field(page, "Title"), "Reach level 10");
  await hand.press(review);
  await page.getByText("QQ is not a country code.").waitFor();
  await page.getByText("Must be dollars with at most 6 decimals").waitFor();
  await overwrite(page, hand, field(page, "Only in these countries"), "de at");
  await page.getByText("Germany, Austria", { exact: true }).waitFor();
  await overwrite(page, hand, field(page, "Payout in USD"), "1.25");

  // An error that only Signpost finds is shown at its field, too.
  await hand.press(review);
  await hand.press(inDialog(page, "Create"));
  await page.getByText(/must be an http or https URL/i).waitFor();
  assert.ok(await isInvalid(field(page, "Icon URL")));
  await overwrite(page, hand, field(page, "Icon URL"), "https://static.example.com/icon.png");
  await hand.press(review);
  await hand.press(inDialog(page, "Create"));
  await page.locator("[aria-invalid=true]").waitFor();
  assert.ok(await isInvalid(field(page, "Goal ID")), "a goal of another offer");
  await overwrite(page, hand, field(page, "Goal ID"), goal);

  await hand.press(page.getByRole("button", { name: "Preview" }));
  await dialog(page)
    .getByText(/^https:\/\/t\.example\.com\/c\?id=/)
    .first()
    .waitFor();
  await dialog(page).getByText("1,250 Coins").first().waitFor();
  await hand.press(inDialog(page, "Close"));

  await hand.press(review);
  await dialog(page).getByText(`“${name}” pays $1.25 for 1 goal`).waitFor();
  await hand.press(inDialog(page, "Create"));
  await said(page, "The offer is created.");
  await heading(page, name).waitFor();
}

/** A lower payout makes new terms, for clicks made before, too. */
export async function lowerPayout(page, hand, payout) {
  await overwrite(page, hand, field(page, "Payout in USD"), payout);
  await hand.press(page.getByRole("button", { name: "Review and save" }));
  const changes = dialog(page).getByRole("table", { name: "What changes" });
  const row = changes.getByRole("row", { name: /Payout in USD/ });
  assert.match(await row.innerText(), /\$1\.25\s+\$0\.90/);
  await dialog(page).getByText("Clicks made before you save keep the terms they were made under").waitFor();
  await hand.tick(dialog(page).getByRole("checkbox", { name: /Pay earlier clicks under the new terms/ }));
  await hand.press(inDialog(page, "Save"));
  await said(page, "The offer is saved.");
  const terms = page.getByRole("table", { name: "Terms" });
  await terms.getByText("$0.90").waitFor();
  await terms.getByText("$1.25").waitFor();
  await page.getByText(/Clicks made before .* are paid under the current terms, too\./).waitFor();
}

/** A change that conflicts with another does not overwrite it. Fields that only the other changed are taken over. */
export async function meetAnother(page, hand, meanwhile) {
  await overwrite(page, hand, field(page, "Title"), "Reach level 11");
  await meanwhile();
  await hand.press(page.getByRole("button", { name: "Review and save" }));
  await hand.press(inDialog(page, "Save"));
  await dialog(page).waitFor({ state: "detached" });
  const clashes = page.getByRole("table", { name: "Somebody else changed this" });
  assert.match(await clashes.innerText(), /Title[\s\S]*Reach level 12[\s\S]*Reach level 11/);
  await hand.press(clashes.getByRole("button", { name: /Title: Take theirs$/ }));
  await clashes.waitFor({ state: "detached" });
  assert.equal(await field(page, "Title").inputValue(), "Reach level 12");
}

export async function switchOff(page, hand, name) {
  await hand.press(page.getByRole("button", { name: "Switch off", exact: true }));
  await dialog(page).getByText("Conversions of earlier clicks are still paid.").waitFor();
  await hand.press(inDialog(page, "Switch off"));
  await said(page, "The offer is switched off.");
  await page.locator(".heading").getByText("Switched off").waitFor();
  await page.getByRole("button", { name: "Switch on", exact: true }).waitFor();
  await heading(page, name).waitFor();
}

export async function chooseFile(page, hand, button, name, text) {
  const chooser = page.waitForEvent("filechooser");
  // The button is the label of a field that a mouse does not see.
  const label = page.locator("label", { hasText: button });
  await hand.press(hand.constructor.handName === "mouse" ? label : page.getByLabel(button));
  await (await chooser).setFiles({ name, mimeType: "application/x-ndjson", buffer: Buffer.from(text) });
}

/** Raises payouts of two offers and gives them a cap, after looking at what changes. */
export async function editMany(page, hand, id, names) {
  await page.goto("/console/offers");
  await hand.write(page.getByLabel("Name, ID or promoted app"), id);
  await page.getByText("2 offers", { exact: true }).waitFor();
  for (const name of names) {
    await hand.tick(page.getByRole("checkbox", { name: `Select ${name}`, exact: true }));
  }
  await hand.press(page.getByRole("button", { name: "Change…", exact: true }));
  await hand.write(dialog(page).getByLabel("Payouts, change in %"), "10");
  await hand.choose(dialog(page).getByLabel("Click cap for each day", { exact: true }), "Set to…");
  await hand.write(dialog(page).getByLabel("Click cap for each day: new value"), "900");
  await hand.press(inDialog(page, "See the changes"));
  const changes = dialog(page).getByRole("table", { name: "What changes" });
  await changes.getByText("0.99").first().waitFor();
  await dialog(page).getByText("2 offers get new terms.").waitFor();
  await hand.press(inDialog(page, "Change 2 offers"));
  await said(page, "2 offers were changed.");
}

/** A file with wrong lines is refused with their numbers; one without is counted, and imported on demand. */
export async function importFile(page, hand, { wrong, right, raised }, isKept) {
  await page.goto("/console/offers");
  await hand.press(page.getByRole("link", { name: "Import", exact: true }));
  await heading(page, "Import").waitFor();
  await chooseFile(page, hand, "Choose a file", "wrong.ndjson", wrong);
  const lines = page.getByRole("table", { name: "2 lines are wrong" });
  await lines.getByText("advertiser_id is missing").waitFor();
  assert.deepEqual(await lines.getByRole("rowheader").allInnerTexts(), ["1", "3"]);

  await chooseFile(page, hand, "Choose another file", "right.ndjson", right);
  await page.getByText("2 resources are ready to import").waitFor();
  await page.getByText("1 advertiser, 1 offer").waitFor();
  await page.getByText("2 new, 0 changed, 0 unchanged").waitFor();
  assert.equal(await isKept(), false, "the check imports nothing");
  await hand.press(page.getByRole("button", { name: "Import 2 resources" }));
  await said(page, "2 resources were imported.");
  assert.equal(await isKept(), true);

  await chooseFile(page, hand, "Choose another file", "raised.ndjson", raised);
  await page.getByText("0 new, 1 changed, 1 unchanged").waitFor();
  const payouts = page.getByRole("table", { name: "1 payout changes" });
  assert.deepEqual((await payouts.getByRole("cell").allInnerTexts()).slice(-2), ["$0.24", "$5.25"]);
}
