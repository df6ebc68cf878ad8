// Apps: set one up, change it, repair its callback, and change its secret.

import assert from "node:assert/strict";

const heading = (page, name) => page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
const part = (page, name) => page.getByRole("region", { name, exact: true });
const save = (region) => region.getByRole("button", { name: "Save", exact: true });
const inDialog = (page, name) => page.getByRole("dialog").getByRole("button", { name, exact: true });
const saved = (page) => page.getByText("Saved.", { exact: true }).last().waitFor({ state: "attached" });

/** Writes over what a field has. */
async function overwrite(page, hand, field, text) {
  await hand.write(field, "");
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
}

/** Sets up the account's first app; returns its App-Id. */
export async function setUpApp(page, hand, name) {
  await page.goto("/dashboard");
  await heading(page, "Overview");
  await hand.press(page.getByRole("link", { name: "Apps", exact: true }).first());
  await page.getByText("No apps yet").waitFor();
  await hand.press(page.getByRole("button", { name: "Set up an app" }));
  const dialog = page.getByRole("dialog");
  await hand.write(dialog.getByLabel("Name"), name);
  await hand.tick(dialog.getByRole("radio", { name: /^Android/ }));
  await dialog.getByText("An offer that pays 1.25 USD gives 125 Coins.").waitFor();
  await hand.press(dialog.getByRole("button", { name: "Set up the app" }));
  await heading(page, name);
  const appId = new URL(page.url()).pathname.split("/").at(-1);
  assert.match(appId, /^[0-9]{8}$/);
  await page.getByText(appId).first().waitFor();
  return appId;
}

export async function changeCurrency(page, hand) {
  const general = part(page, "General");
  await overwrite(page, hand, general.getByLabel("Units for 1 USD"), "42.5");
  await hand.choose(general.getByLabel("Decimals"), "2");
  await hand.choose(general.getByLabel("Rounding"), "To the nearest, halves up");
  await general.getByText("An offer that pays 1.25 USD gives 53.13 Coins.").waitFor();
  await hand.press(save(general));
  await saved(page);
  await page.reload();
  await general.getByText("An offer that pays 1.25 USD gives 53.13 Coins.").waitFor();
}

/** A field's refusal stands at the field. */
export async function refuseFallback(page, hand) {
  const fallback = part(page, "Fallback URL");
  const field = fallback.getByLabel("Fallback URL");
  await overwrite(page, hand, field, "https://other.example/");
  await hand.press(save(fallback));
  await fallback.getByText(/^other\.example is new for this app/).waitFor();
  await fallback.getByText(/^Please allow other\.example as a fallback host of /).waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  await hand.press(fallback.getByRole("button", { name: "Discard changes" }));
  assert.equal(await field.getAttribute("aria-invalid"), null);
}

export async function blockOffers(page, hand, ids) {
  const blocked = part(page, "Blocked offers");
  await hand.write(blocked.getByLabel("Offer IDs, one per line"), ids.join("\n"));
  await blocked.getByText(`${ids.length} offers of at most 1,000.`).waitFor();
  await hand.press(save(blocked));
  await saved(page);
}

/** Sets the app's first callback; returns its secret, which is shown this once. */
export async function setFirstCallback(page, hand, url) {
  const callback = part(page, "Callback");
  await hand.write(callback.getByLabel("Callback URL"), url);
  await hand.press(save(callback));
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { name: "Copy the callback secret now" }).waitFor();
  const secret = await dialog.getByText(/^whsec_/).innerText();
  await hand.press(dialog.getByRole("button", { name: "Done" }));
  await page.getByRole("button", { name: "Rotate the secret" }).waitFor();
  return secret;
}

/** Sends a test with a wrong signature. */
export async function forge(page, hand, text) {
  const tester = part(page, "Test your receiver");
  await hand.tick(tester.getByRole("radio", { name: /^A wrong signature/ }));
  await testReceiver(page, hand, text);
}

/** Writes a URL with macros, sees what is wrong while typing, and what would be sent. */
export async function writeCallback(page, hand, url) {
  const callback = part(page, "Callback");
  const field = callback.getByLabel("Callback URL");
  await overwrite(page, hand, field, `${url}?uid={usr_id}&coins={value}`);
  await callback.getByText("Do you mean {user_id}?").waitFor();
  await overwrite(page, hand, field, `${url}?uid={user_id}&coins={value}&id=`);
  await callback.getByText("Without {transaction_id} your receiver").waitFor();
  await hand.press(callback.locator("summary", { hasText: "Macros: 2 of 24 used" }));
  await hand.press(callback.getByRole("button", { name: "Add {transaction_id} to the URL" }));
  assert.equal(await field.inputValue(), `${url}?uid={user_id}&coins={value}&id={transaction_id}`);
  await hand.press(callback.getByRole("button", { name: "Preview" }));
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The URL names the user, the transaction and the value.").waitFor();
  await dialog.getByText(/^GET .*uid=signpost-test/).waitFor();
  await hand.press(dialog.getByRole("button", { name: "Close" }));
  await hand.press(save(callback));
  await saved(page);
}

export async function testReceiver(page, hand, text) {
  const tester = part(page, "Test your receiver");
  await hand.press(tester.getByRole("button", { name: "Send a test" }));
  await tester.getByText(text).waitFor();
}

/** Rotates the callback's secret, the first of which is lost. `teach` gives the receiver the new one. */
export async function rotateSecret(page, hand, { teach, checkSignatures }) {
  await hand.press(page.getByRole("button", { name: "Rotate the secret" }));
  await hand.press(inDialog(page, "Make the secret"));
  const shown = page.getByRole("dialog").getByText(/^whsec_/);
  const lost = await shown.innerText();
  await hand.press(inDialog(page, "Finish later"));
  await hand.press(page.getByRole("button", { name: "Continue the rotation" }));
  await hand.press(inDialog(page, "I do not have it: make another"));
  const secret = await shown.innerText();
  assert.notEqual(secret, lost);
  await hand.press(inDialog(page, "My receiver has it"));
  await hand.press(inDialog(page, "Send the test"));
  await page.getByText(/^Not passed: your receiver does not accept the new secret/).waitFor();
  teach(secret);
  await hand.press(inDialog(page, "Send it again"));
  await page.getByText("Passed: your receiver accepts the new secret.").waitFor();
  await hand.press(inDialog(page, "Next"));
  await hand.press(inDialog(page, "Send the test"));
  await page.getByText(/^Your receiver accepts unsigned callbacks/).waitFor();
  assert.equal(await inDialog(page, "Next").count(), 0, "the old secret stays until both tests pass");
  checkSignatures();
  await hand.press(inDialog(page, "Send it again"));
  await page.getByText("Passed: your receiver refuses a wrong signature.").waitFor();
  await hand.press(inDialog(page, "Next"));
  await hand.press(inDialog(page, "End the old secret"));
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Rotate the secret" }).waitFor();
}

/** Requires signed clicks; the secret is shown once. */
export async function signClicks(page, hand) {
  const clicks = part(page, "Signed clicks");
  await hand.press(clicks.getByRole("button", { name: "Require signed clicks" }));
  await hand.press(inDialog(page, "Require signed clicks"));
  await page.getByRole("heading", { name: "Copy the click secret now" }).waitFor();
  await hand.press(inDialog(page, "Done"));
  await clicks.getByText("Clicks of this app need a signature from your backend.").waitFor();
}

/** `meanwhile` is somebody else's change of the name and of the offers, after which this page's is refused. Mine stays. */
export async function changeAfterAnother(page, hand, meanwhile) {
  const general = part(page, "General");
  const name = general.getByRole("textbox", { name: "Name" });
  await overwrite(page, hand, name, "Kite Racer 2");
  await meanwhile();
  await hand.press(save(general));
  const clashes = general.getByRole("table", { name: "Somebody else changed this" });
  const row = clashes.getByRole("row", { name: "Name", exact: false }).last();
  assert.match(await row.innerText(), /Kite Flyer[\s\S]*Kite Racer 2/);
  assert.equal(await name.inputValue(), "Kite Racer 2");
  assert.equal(await save(general).getAttribute("aria-disabled"), "true", "first it is decided");
  await hand.press(row.getByRole("button", { name: "Name: Keep mine" }));
  await clashes.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.type === "submit");
  await hand.press(save(general));
  await saved(page);
}

/** Changes are not given up without a question: by a link, and by the way back. */
export async function keepUnsaved(page, hand) {
  const fallback = part(page, "Fallback URL").getByLabel("Fallback URL");
  await hand.write(fallback, "https://play.example/");
  await hand.press(page.getByRole("link", { name: "Reports", exact: true }));
  await hand.press(inDialog(page, "Stay here"));
  assert.equal(await fallback.inputValue(), "https://play.example/");
  await page.goBack();
  await page.getByRole("heading", { name: "Leave without saving?" }).waitFor();
  await hand.press(inDialog(page, "Stay here"));
  assert.match(page.url(), /\/apps\/[0-9]{8}$/);
  await hand.press(page.getByRole("link", { name: "Reports", exact: true }));
  await hand.press(inDialog(page, "Leave"));
  await heading(page, "Reports");
}

/**
 * Sets up an app with a callback through three mistakes: nothing at the address, a receiver that does not know the secret, and
 * one that checks no signature.
 */
export async function setUpByMistakes(page, hand, signpost, receiver) {
  const appId = await setUpApp(page, hand, "Kite Racer");
  // The receiver of this test listens on a port that the operator has to allow.
  const { app_id, terms_revision, ...document } = await signpost.operator("GET", `/apps/${appId}`);
  const callback_ports = [Number(new URL(receiver.url).port)];
  await signpost.operator("PUT", `/apps/${appId}`, { ...document, callback_ports });
  await page.reload();

  receiver.failsWith = 404;
  const url = `${receiver.url}?uid={user_id}&coins={value}&id={transaction_id}`;
  const secret = await setFirstCallback(page, hand, url);
  await testReceiver(page, hand, "Your server has nothing at this path (404).");
  receiver.failsWith = null;
  await testReceiver(page, hand, "Your receiver refuses a valid signature (401).");
  receiver.checksSignatures = false;
  await forge(page, hand, "Your receiver accepts unsigned callbacks");
  Object.assign(receiver, { checksSignatures: true, secrets: [secret] });
  await testReceiver(page, hand, "Your receiver refuses a wrong signature (401).");
  return appId;
}
