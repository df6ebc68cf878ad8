// The operator creates an advertiser, gives it tokens and takes them back, and finds out why postbacks are refused.

import assert from "node:assert/strict";

const dialog = (page) => page.getByRole("dialog");
const inDialog = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const heading = (page, name) => page.getByRole("heading", { name, exact: true, level: 1 });
const said = (page, text) => page.locator(".status").getByText(text).first().waitFor({ state: "attached" });

export async function createAdvertiser(page, hand, id, name) {
  await page.goto("/console/advertisers");
  await hand.press(page.getByRole("button", { name: "Create an advertiser" }));
  await hand.write(dialog(page).getByLabel("Name"), name);
  // Creating never renames an existing advertiser.
  await hand.write(dialog(page).getByLabel("Advertiser ID"), "brindlefox-games");
  await hand.press(inDialog(page, "Create an advertiser"));
  await dialog(page).getByText("An advertiser with this ID already exists.").waitFor();
  await hand.write(dialog(page).getByLabel("Advertiser ID"), "");
  await page.keyboard.press("Control+a");
  await page.keyboard.type(id);
  await hand.press(inDialog(page, "Create an advertiser"));
  await heading(page, name).waitFor();
  await page.getByText("No token yet.").waitFor();
}

export async function rename(page, hand, name) {
  await hand.press(page.getByRole("button", { name: "Rename" }));
  await hand.write(dialog(page).getByLabel("Name"), "");
  await page.keyboard.press("Control+a");
  await page.keyboard.type(name);
  await hand.press(inDialog(page, "Rename"));
  await said(page, "The advertiser was renamed.");
  await heading(page, name).waitFor();
}

/** Issues a token, which is shown once; `ends` is the serial of the one that it ends. */
export async function issue(page, hand, ends) {
  await hand.press(page.getByRole("button", { name: "Issue a token" }));
  if (ends) await dialog(page).getByText(`serial ${ends}, is refused within two minutes`).waitFor();
  await hand.press(inDialog(page, "Issue a token"));
  await dialog(page).getByText("the previous one stays valid until you issue another").waitFor();
  const token = await dialog(page).getByText(/^at_/).innerText();
  await hand.press(inDialog(page, "Done"));
  await dialog(page).waitFor({ state: "detached" });
  assert.equal(await page.getByText(token).count(), 0, "a token is shown once");
  const serial = token.split("_")[2];
  await page.getByRole("table", { name: "Tokens" }).getByText(serial).waitFor();
  return { token, serial };
}

export async function revoke(page, hand, serial) {
  await hand.press(page.getByRole("button", { name: `Revoke ${serial}` }));
  await dialog(page).getByText("Postbacks with it are refused within two minutes.").waitFor();
  await hand.press(inDialog(page, "Revoke"));
  await said(page, `Token ${serial} was revoked.`);
  await page.getByRole("button", { name: `Revoke ${serial}` }).waitFor({ state: "detached" });
}

/** A refused postback is listed with the reason, the remedy and its parameters. */
export async function diagnose(page, hand, token) {
  const postbacks = page.getByRole("table", { name: "Postbacks" });
  await postbacks.getByText("Token not valid").first().waitFor();
  await hand.choose(page.getByRole("combobox", { name: "Answer" }), "Token not valid");
  await page.waitForURL(/code=invalid_token/);
  await postbacks
    .getByText(/Give the advertiser's current token to the person who set up the postback/)
    .first()
    .waitFor();
  const row = postbacks.getByRole("row").filter({ hasText: "Token not valid" }).first();
  await hand.press(row.locator("summary"));
  await row.getByText("click_id", { exact: true }).waitFor();
  assert.equal(await page.getByText(token).count(), 0, "no token is shown whole");
}

/** Shows the answer that a URL would get, without any effect. */
export async function check(page, hand, url, verdict) {
  await hand.write(page.getByRole("textbox", { name: "Postback URL" }), "");
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(url);
  await hand.press(page.getByRole("button", { name: "Check it" }));
  await page.getByText(verdict).first().waitFor();
}
