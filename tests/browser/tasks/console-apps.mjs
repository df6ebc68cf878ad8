// The operator decides about an app, tests its callback, switches it on again, and reconciles a day.

import assert from "node:assert/strict";
import { said } from "./console-publishers.mjs";

const dialog = (page) => page.getByRole("dialog");
const inDialog = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const part = (page, name) => page.getByRole("region", { name, exact: true });

async function overwrite(page, hand, field, text) {
  await hand.write(field, "");
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
}

/** The page names errors before it sends anything, and shows each refusal at its field. */
export async function decide(page, hand) {
  const region = part(page, "Your settings for this app");
  const save = region.getByRole("button", { name: "Save", exact: true });
  const ports = region.getByLabel("Ports for its callback, besides 443");
  await overwrite(page, hand, ports, "8443, abc");
  await region.getByText("Enter numbers from 0 to 65535, separated by commas.").waitFor();
  await overwrite(page, hand, ports, "8443, 9443");
  await overwrite(page, hand, region.getByLabel("Rewards per user per day"), "20");
  const hosts = region.getByLabel("Hosts for its fallback URL, one per line");
  await overwrite(page, hand, hosts, "bad_host!/");
  await hand.press(save);
  await hand.press(inDialog(page, "Save the changes"));
  await region.getByText("must be a host name in lower case", { exact: false }).waitFor();
  assert.equal(await hosts.getAttribute("aria-invalid"), "true");
  await overwrite(page, hand, hosts, "Play.Lumen-Arcade.example");
  await hand.press(save);
  await dialog(page).getByText("Fallback hosts: add play.lumen-arcade.example").waitFor();
  await dialog(page).getByText("Rewards per user per day: no limit → 20").waitFor();
  await hand.press(inDialog(page, "Save the changes"));
  await said(page, "Saved.");
}

/** `meanwhile` is somebody else's change of the same field. */
export async function decideAfterAnother(page, hand, meanwhile) {
  const region = part(page, "Your settings for this app");
  const rewards = region.getByLabel("Rewards per user per day");
  await overwrite(page, hand, rewards, "30");
  await meanwhile();
  await hand.press(region.getByRole("button", { name: "Save", exact: true }));
  await hand.press(inDialog(page, "Save the changes"));
  await hand.press(region.getByRole("button", { name: "Rewards per user per day: Keep mine" }));
  assert.equal(await rewards.inputValue(), "30");
  await hand.press(region.getByRole("button", { name: "Save", exact: true }));
  await hand.press(inDialog(page, "Save the changes"));
  await said(page, "Saved.");
}

export async function payOlderClicks(page, hand) {
  const region = part(page, "Terms of older clicks");
  await region.getByText("Each click is paid under the terms in force when it was made.").waitFor();
  await hand.press(region.getByRole("button", { name: "Pay clicks before now under current terms" }));
  await dialog(page).getByText("This cannot be undone, only moved to a later time.").waitFor();
  await hand.press(inDialog(page, "Pay them under current terms"));
  await region.getByText(/^Clicks made before .* are paid under the current terms/).waitFor();
}

export async function testCallback(page, hand, verdict) {
  const region = part(page, "State of the callback");
  await hand.press(region.getByRole("button", { name: "Send a test" }));
  await hand.press(inDialog(page, "Send the test"));
  await region.getByText(verdict).waitFor();
}

export async function enableCallback(page, hand) {
  const region = part(page, "State of the callback");
  await region.getByText("Switched off", { exact: true }).waitFor();
  await hand.press(region.getByRole("button", { name: "Switch on again" }));
  await hand.press(inDialog(page, "Switch on again"));
  await said(page, "The callback is switched on again.");
  await region.getByText("Switched off", { exact: true }).waitFor({ state: "detached" });
}

export async function reconcile(page, hand, date, verdict) {
  const region = part(page, "Reconcile a day");
  await hand.writeDate(region.getByLabel("Day, in UTC"), date);
  await hand.press(region.getByRole("button", { name: "Compare" }));
  await region.getByText(verdict).waitFor();
  assert.match(page.url(), new RegExp(`date=${date}$`));
}
