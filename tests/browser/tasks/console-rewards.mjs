// An operator's work with rewards: finding them, settling one or many, and erasing a user.

import assert from "node:assert/strict";

const table = (page) => page.getByRole("table", { name: "Rewards", exact: true });
const rowOf = (page, user) => table(page).getByRole("row").filter({ hasText: user });
const dialog = (page) => page.getByRole("dialog");
const inDialog = (page, name) => dialog(page).getByRole("button", { name, exact: true });

/** Lists an app's rewards of a state, from the first page on. */
export async function listRewards(page, hand, app, state) {
  await page.goto("/console");
  await hand.press(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Rewards" }));
  await page.getByText("Choose an app").waitFor();
  await hand.write(page.getByLabel("App", { exact: true }), app);
  await hand.press(page.getByRole("button", { name: "Show" }));
  await table(page).waitFor();
  await hand.choose(page.getByLabel("State", { exact: true }), state);
  await page.waitForURL(/status=/);
  await table(page).waitFor();
}

/** Opens a reward from the list and settles it, with a reason. */
export async function settleOne(page, hand, { user, button, reason, becomes, said }) {
  await hand.press(rowOf(page, user).getByRole("link").first());
  await page.getByText("What happened").waitFor();
  await hand.press(page.getByRole("button", { name: `${button}…` }));
  await hand.write(dialog(page).getByLabel("Reason"), reason);
  await hand.press(inDialog(page, button));
  await page.getByText(said).waitFor({ state: "attached" });
  await page.getByRole("heading", { name: `Reward, ${becomes}` }).waitFor();
}

/** An approval that another reason stands against, which is then overridden. */
export async function approveDespite(page, hand, against) {
  await hand.press(page.getByRole("button", { name: "Approve…" }));
  await hand.write(dialog(page).getByLabel("Reason"), "the advertiser vouches for it");
  await hand.press(inDialog(page, "Approve"));
  await dialog(page).getByRole("alert").getByText(`There is another reason not to approve it: ${against}`).waitFor();
  await hand.tick(dialog(page).getByLabel(`Approve despite this: ${against}`));
  await hand.press(inDialog(page, "Approve"));
  await page.getByText("It is approved.").waitFor({ state: "attached" });
  await page.getByRole("heading", { name: "Reward, approved" }).waitFor();
}

/** Rejects all of the filter, after a count. */
export async function rejectMany(page, hand, number, reason) {
  await hand.press(page.getByRole("button", { name: "Approve or reject all that match" }));
  await dialog(page).getByText(`${number} rewards match`).waitFor();
  await hand.tick(dialog(page).getByLabel("Reject"));
  const reject = dialog(page).getByRole("button", { name: new RegExp(`^Reject ${number} rewards, \\$\\d+\\.\\d\\d$`) });
  await reject.waitFor();
  await hand.write(dialog(page).getByLabel("Reason"), reason);
  await hand.press(reject);
  const done = new RegExp(`^${number} rewards were rejected, \\$\\d+\\.\\d\\d in all`);
  await page.getByRole("dialog", { name: done }).waitFor();
  await hand.press(inDialog(page, "Done"));
  await page.getByText("Nothing matches").waitFor();
}

/** Erases the user of the reward that is open. */
export async function eraseUser(page, hand, user) {
  await hand.press(page.getByRole("button", { name: "Erase this user…" }));
  const field = dialog(page).getByLabel("Type the user ID to confirm");
  await hand.write(field, "somebody else");
  await hand.press(inDialog(page, "Erase this user"));
  await dialog(page).getByText("This is not the user ID.").waitFor();
  await field.fill("");
  await hand.write(field, user);
  const asked = page.waitForRequest((request) => request.url().endsWith("/erase_user"));
  await hand.press(inDialog(page, "Erase this user"));
  assert.equal((await asked).method(), "POST");
  assert.ok(!page.requests.join().includes(user), "no address names a user");
  await page.getByText(/was cleared|were cleared|follows once/).waitFor({ state: "attached" });
  await dialog(page).waitFor({ state: "detached" });
}

/** Ids of users stand in no query of the address. */
export async function filterByUser(page, hand, user) {
  await hand.write(page.getByLabel("User ID"), user);
  await hand.press(page.getByRole("button", { name: "Show" }));
  await page.waitForURL(/#user=/);
  assert.ok(!new URL(page.url()).search.includes(user), page.url());
  await rowOf(page, user).first().waitFor();
}
