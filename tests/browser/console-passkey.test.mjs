// A change in the console asks for the passkey again when the last one was long ago, and is then made once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage, SIGNED_OUT } from "./support/browser.mjs";
import { inviteToConsole } from "./support/console.mjs";
import { Mouse } from "./support/hands.mjs";
import { addAuthenticator } from "./support/passkeys.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";
import * as tasks from "./tasks/console-publishers.mjs";

const shared = suite({ localSignIn: false, facts: false });

test("a Pub-Key is shown after a passkey", async () => {
  const { signpost } = shared;
  const path = `/v1/operator/publishers/${DEMO}/pub_key`;
  const page = await shared.open({
    refusals: [
      [401, "/v1/console/session"],
      [403, path],
    ],
  });
  await addAuthenticator(page);
  await page.goto(await inviteToConsole(signpost));
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  // As five minutes later.
  let isAsked = false;
  await page.route(
    (address) => address.pathname === path,
    (route) => {
      if (isAsked) return route.fallback();
      isAsked = true;
      return route.fulfill({ status: 403, json: { error: "confirm with your passkey first", code: "verify_first" } });
    },
  );
  await page.goto(`/console/publishers/${DEMO}`);
  await tasks.openSection(page, new Mouse(page), "Keys");
  await page.getByRole("button", { name: "Show the Pub-Key" }).click();
  const { pub_key: key } = await signpost.operator("GET", `/publishers/${DEMO}/pub_key`);
  await page.getByText(key).waitFor();
  assert.equal(page.requests.filter((request) => request === "POST /v1/console/verify").length, 1);
  await page.getByRole("button", { name: "Hide" }).click();
  await page.getByText(key).waitFor({ state: "detached" });
  await closePage(page);
});

test("a publisher's passkey opens nothing at the console", async () => {
  const { signpost } = shared;
  const page = await shared.open({
    refusals: [SIGNED_OUT, [401, "/v1/console/session"], [401, "/v1/console/sign_in/passkey"]],
  });
  // Both sites have one host here, so the browser offers the passkey to both.
  await addAuthenticator(page);
  await page.goto(await signpost.invite(DEMO));
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  const member = (await page.context().cookies()).map(({ value }) => value);
  await page.goto("/console");
  const answered = page.waitForResponse((response) => response.url().endsWith("/v1/console/sign_in/passkey"));
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  const answer = await answered;
  assert.equal(answer.status(), 401);
  assert.equal((await answer.json()).code, "passkey_refused");
  assert.equal(await answer.headerValue("Set-Cookie"), null);
  const cookies = (await page.context().cookies()).map(({ value }) => value);
  assert.ok(
    member.every((value) => cookies.includes(value)),
    "the publisher's session goes on",
  );
  await closePage(page);
});
