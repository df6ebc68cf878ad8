// Every page in its other states, on a wide screen and on a phone, in light and dark; and how a state is left.

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeMembers } from "./gallery/members.mjs";
import { states } from "./gallery/states.mjs";
import { closePage, SIGNED_OUT, WIDTHS } from "./support/browser.mjs";
import { answer, answerOnce } from "./support/faults.mjs";
import { look } from "./support/gallery.mjs";
import { suite } from "./support/suite.mjs";

let members;
let views;
const shared = suite({}, async (signpost) => {
  members = await makeMembers(signpost);
  views = states(members);
});

for (const name of Object.keys(states({}))) {
  for (const width of WIDTHS) test(`${name} at ${width} px`, () => look(shared, name, views[name], width));
}

const keysTable = (page) => page.getByRole("table", { name: "Report keys" });

test("a failure is tried again by its button", async () => {
  const page = await shared.open({ cookie: members.manager, refusals: [[500, "/v1/dashboard/report_keys"]] });
  await answerOnce(page, "GET", "report_keys", { status: 500, code: "internal_error" });
  await page.goto("/dashboard/settings/keys");
  await page.getByRole("button", { name: "Try again" }).click();
  await keysTable(page).waitFor();
  await closePage(page);
});

test("a part that is busy for a second is asked again without a message", async () => {
  const page = await shared.open({ cookie: members.manager, refusals: [[503, "/v1/dashboard/report_keys"]] });
  const fault = { status: 503, code: "unavailable", headers: { "Retry-After": "1" } };
  await answerOnce(page, "GET", "report_keys", fault);
  await page.goto("/dashboard/settings/keys");
  await keysTable(page).waitFor();
  const calls = page.requests.filter((request) => request === "GET /v1/dashboard/report_keys");
  assert.equal(calls.length, 2);
  await closePage(page);
});

test("a change is never sent twice by itself", async () => {
  const page = await shared.open({ cookie: members.manager, refusals: [[503, "/v1/dashboard/report_keys"]] });
  const fault = { status: 503, code: "unavailable", headers: { "Retry-After": "1" } };
  await answer(page, "POST", "report_keys", fault);
  await page.goto("/dashboard/settings/keys");
  await page.getByLabel("Label").fill("Tableau");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Signpost is busy").waitFor();
  assert.equal(page.requests.filter((request) => request === "POST /v1/dashboard/report_keys").length, 1);
  await closePage(page);
});

test("a session that ends shows the sign-in view, says why, and keeps the address", async () => {
  const cookie = await shared.signpost.signIn();
  const page = await shared.open({ cookie, refusals: [SIGNED_OUT, [401, "/v1/dashboard/reports"]] });
  await page.goto("/dashboard/reports?by=country");
  await page.getByRole("table", { name: "Report", exact: true }).waitFor();
  await shared.signpost.dashboard(cookie, "POST", "/sign_out");
  await page.getByRole("button", { name: "Impressions", exact: true }).click();
  await page.getByText("Your session has ended.").waitFor();
  assert.match(page.url(), /reports\?by=country&sort=-impressions$/);
  await closePage(page);
});

test("a role that was taken away is refused at the next click", async () => {
  const { signpost } = shared;
  const publisher = await signpost.addPublisher("Kite Games");
  const owner = await signpost.signIn(publisher);
  const cookie = await signpost.signIn(publisher, "developer", "Tom Weber");
  const page = await shared.open({ cookie, refusals: [[403, "/v1/dashboard/report_keys"]] });
  await page.goto("/dashboard/settings/sessions");
  await page.getByText("this browser").waitFor();
  const { members: list } = await signpost.dashboard(owner, "GET", "/members");
  const { member_id: id } = list.find(({ name }) => name === "Tom Weber");
  await signpost.dashboard(owner, "PATCH", `/members/${id}`, { role: "analyst" });
  await page.getByRole("link", { name: "Report keys" }).click();
  await page.getByText("Your role does not include this").waitFor();
  await closePage(page);
});
