// A session that ends elsewhere, and the sign-in after it.

/** Ends the session of a page's browser. The page learns of that with its next call. */
export async function endSession(signpost, page) {
  const held = (await page.context().cookies()).find(({ value }) => value.startsWith("s_p_"));
  await signpost.dashboard(held, "POST", "/sign_out");
}

export async function signInAfter(page, hand) {
  await hand.press(page.getByRole("button", { name: "Sign in with a passkey" }));
  await page.getByText("You are signed in again. What you typed is still here.").waitFor({ state: "attached" });
}
