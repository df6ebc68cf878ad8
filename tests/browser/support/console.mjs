// The operator's console: a session without a browser, and answers that stand in for the real ones.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { USER_AGENT } from "./signpost.mjs";
import { changed } from "./faults.mjs";

/** The address of a fresh invite to the console. */
export const inviteToConsole = async (signpost, role = "admin", name = "Nora Lind") =>
  (await signpost.operator("POST", "/members/invites", { name, role })).url;

/** Spends a fresh invite to the console by local sign-in; returns the cookie for Playwright. */
export async function signInToConsole(signpost, role = "admin", name = "Nora Lind") {
  const url = await inviteToConsole(signpost, role, name);
  const answer = await fetch(`${signpost.base}/v1/console/sign_in`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Origin: signpost.base,
      "Sec-Fetch-Site": "same-origin",
      "User-Agent": USER_AGENT,
    },
    body: JSON.stringify({ invite: url.split("#invite=")[1] }),
  });
  assert.equal(answer.status, 204, await answer.text());
  const [pair] = answer.headers.get("Set-Cookie").split(";");
  const [cookie, value] = pair.split("=");
  return { name: cookie, value, url: signpost.base, httpOnly: true, sameSite: "Strict" };
}

const call = (path) => (url) => url.pathname === `/v1/operator/${path}`;

/** Answers a call of the operator by `answer`: `{status, json}`. */
export const answerFor = (page, method, path, answer) =>
  page.route(call(path), (route) => (route.request().method() === method ? route.fulfill(answer) : route.fallback()));

/** Imitates somebody else's change of a document: reads show it, and the next change is refused. */
export async function changeMeanwhile(page, path, edit) {
  await page.route(call(path), changed(edit));
  await answerFor(page, "PUT", path, { status: 412, json: { error: "changed", code: "precondition_failed" } });
}

/** Holds a call of the operator back until the page is closed. */
export const holdCall = (page, path) => page.route(call(path), () => {});

/** A call of the operator as a page makes it for the member with this cookie. It must succeed. */
export async function operate(signpost, { name, value }, method, path, body = {}) {
  const isText = typeof body === "string";
  const answer = await fetch(`${signpost.base}/v1/operator${path}`, {
    method,
    headers: {
      "Content-Type": isText ? "text/csv" : "application/json",
      "Idempotency-Key": randomBytes(8).toString("hex"),
      Cookie: `${name}=${value}`,
      Origin: signpost.base,
      "Sec-Fetch-Site": "same-origin",
    },
    body: isText ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** Ends a session elsewhere than in the browser that has it. */
export async function signOutOfConsole(signpost, { name, value }) {
  const answer = await fetch(`${signpost.base}/v1/console/sign_out`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Cookie: `${name}=${value}`,
      Origin: signpost.base,
      "Sec-Fetch-Site": "same-origin",
    },
    body: "{}",
  });
  assert.equal(answer.status, 204, await answer.text());
}
