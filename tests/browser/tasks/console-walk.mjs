// How an operator gets from the first page, or the search, to what is wrong, and repairs it.

import { Keyboard } from "../support/hands.mjs";

export const dialog = (page) => page.getByRole("dialog");
export const inDialog = (page, name) => dialog(page).getByRole("button", { name, exact: true });
export const part = (page, name) => page.getByRole("region", { name, exact: true });
const open = (page) => page.getByRole("table", { name: "Open items" });
// The link to what is open has its count beside it.
const nav = (page, name) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: new RegExp(`^${name}( \\d+ open)?$`) });

/** The text for screen readers is beside the visible text. */
export const said = (page, text) => page.getByText(text).last().waitFor({ state: "attached" });

/** From the first page to the place of a repair: `kind` is a tile, and `repair` the link of the item. */
export async function followAttention(page, hand, kind, hint, repair) {
  await page.goto("/console");
  const tile = page.getByRole("navigation", { name: "Kinds" }).getByRole("link", { name: new RegExp(`^${kind} 1$`) });
  // Sums go out once in some seconds, and attention hears of the rest within 4.
  await tile.waitFor({ timeout: 60_000 });
  await hand.press(tile);
  await page.getByText(hint).waitFor();
  await hand.press(open(page).getByRole("link", { name: repair }));
}

/** Back on the first page there is nothing left to do. */
export async function isWell(page, hand) {
  await hand.press(nav(page, "Attention"));
  await page.getByText("Nothing in this list").waitFor({ timeout: 30_000 });
}

export const follow = (page, hand, name) => hand.press(nav(page, name));

/** By keyboard the box is reached by its shortcut. */
export async function find(page, hand, text) {
  if (hand instanceof Keyboard) {
    await page.keyboard.press("Control+k");
    await page.keyboard.insertText(text);
  } else {
    await page.getByRole("search").getByRole("textbox", { name: "Search" }).fill(text);
  }
  await hand.send();
}

/** The story of a callback that was given up: what the receiver said each time, and sent again it arrives. */
export async function sendAgain(page, hand, answer) {
  const callback = page.getByRole("region", { name: /^Callback/ });
  await callback.getByText("Given up").first().waitFor();
  await callback.getByText(answer).first().waitFor();
  await hand.press(callback.getByRole("button", { name: "Send it again" }));
  await dialog(page).waitFor();
  await hand.press(inDialog(page, "Send it again"));
  await said(page, "It is queued to be sent again.");
  await callback.getByText("Delivered").first().waitFor({ timeout: 30_000 });
}

/** An earned conversion that a cap refused is paid with a reason. */
export async function approveCapped(page, hand, reason) {
  await page.getByRole("heading", { name: "Reward, refused" }).waitFor();
  await hand.press(page.getByRole("button", { name: "Approve…" }));
  await dialog(page).getByText("The user is paid").waitFor();
  await hand.write(dialog(page).getByLabel("Reason"), reason);
  await hand.press(inDialog(page, "Approve"));
  await said(page, "It is approved.");
  await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
  await page.getByText(reason).first().waitFor();
}

/** The sums of an app's day, on the page of the service. */
export async function compareDay(page, hand, app, date) {
  const day = part(page, "Reconcile a day");
  await hand.write(day.getByLabel("App", { exact: true }), app);
  await hand.writeDate(day.getByLabel("Day, in UTC"), date);
  await hand.press(day.getByRole("button", { name: "Compare" }));
  return day;
}

/** On the page of an offer: clicks made so far are paid by the terms in force. */
export async function payOlderClicks(page, hand) {
  const terms = part(page, "Terms");
  await hand.press(terms.getByRole("button", { name: "Pay clicks before now under current terms" }));
  await dialog(page).getByText("This cannot be undone, only moved to a later time.").waitFor();
  await hand.press(inDialog(page, "Pay them under current terms"));
  await said(page, "Clicks made before now are paid under the current terms.");
  await terms.getByText(/Clicks made before .* are paid under the current terms, too\./).waitFor();
}
