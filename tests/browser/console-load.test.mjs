// Consoles that stay open all day ask little of the catalog, which clicks and offers need.

import assert from "node:assert/strict";
import { test } from "node:test";
import { closePage } from "./support/browser.mjs";
import { answerFor, signInToConsole } from "./support/console.mjs";
import { startReceiver } from "./support/receiver.mjs";
import { advertiserToken, report, sendCallbacksTo, SURVEY, WEB_APP } from "./support/rewards.mjs";
import { DEMO } from "./support/signpost.mjs";
import { suite } from "./support/suite.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const CONSOLES = 5;
const SECONDS = 20;

/** Calls that other objects answer alone. For those of an app's rewards and replays the catalog is asked, too. */
const OTHERS = /^\/v1\/(console\/session|operator\/attention)$/;

let admin;
let token;
const shared = suite({ facts: false }, async (signpost) => {
  token = await advertiserToken(signpost, SURVEY.advertiser);
  admin = await signInToConsole(signpost);
});

/** A page with one of the console's views, as it is once everything is there. */
async function open(path, heading) {
  const page = await shared.open({ cookie: admin });
  page.polls = [];
  page.on("request", (request) => {
    if (request.headers()["x-poll"] === "1") page.polls.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  await page.goto(`/console${path}`);
  await page.getByRole("heading", { name: heading, exact: true }).waitFor();
  await page.waitForFunction(() => !document.querySelector(".skeleton, [aria-busy=true]"));
  return page;
}

/** The story of a reward whose receiver fails, so that its callback waits. */
async function openWaitingStory(receiver) {
  receiver.failsWith = 500;
  await sendCallbacksTo(
    shared.signpost,
    `${receiver.url}?user={user_id}&id={transaction_id}&coins={value}`,
    SECRET,
    WEB_APP,
  );
  const { transactionId } = await report(shared.signpost, token, SURVEY, "user-who-waits");
  const page = await open(`/apps/${WEB_APP}/rewards/${transactionId}`, "Reward, approved");
  await page
    .getByRole("region", { name: /^Callback/ })
    .getByText("Waiting")
    .first()
    .waitFor();
  return { page, path: `/v1/operator/apps/${WEB_APP}/conversions/${transactionId}/story` };
}

/** A replay that does not end while it is watched. */
async function openReplay() {
  const page = await open(`/rewards?app=${WEB_APP}`, "Rewards");
  const path = `apps/${WEB_APP}/replays`;
  const started = { count: 3, until: Math.floor(Date.now() / 1000), replay_id: "42" };
  await answerFor(page, "POST", path, { json: started });
  await answerFor(page, "GET", `${path}/42`, { json: { state: "running", replayed: 1 } });
  await page.getByRole("button", { name: "Send callbacks again" }).click();
  await page.getByRole("button", { name: "Send 3 callbacks again", exact: true }).click();
  await page.getByText("Queueing callbacks to be sent again: 1 of 3.").waitFor();
  return { page, path: `/v1/operator/${path}/42` };
}

test("five open consoles ask the catalog less than once a second, whatever they show", async (context) => {
  const receiver = await startReceiver();
  context.after(receiver.stop);
  const story = await openWaitingStory(receiver);
  const replay = await openReplay();
  const service = await open("/service", "Service");
  const mixed = [
    service,
    await open("", "Attention"),
    await open(`/advertisers/${SURVEY.advertiser}`, "Postbacks"),
    await open(`/rewards?app=${WEB_APP}`, "Rewards"),
    await open(`/publishers/${DEMO}`, "Apps"),
  ];
  const pages = [...mixed, story.page, replay.page];
  for (const page of pages) {
    page.requests.length = 0;
    page.polls.length = 0;
  }
  await service.waitForTimeout(SECONDS * 1000);
  const askedBy = (page) => page.requests.filter((request) => request.includes(" /v1/"));
  const ofCatalog = (page) => askedBy(page).filter((request) => !OTHERS.test(request.split(" ")[1]));
  const all = mixed.flatMap(ofCatalog);
  assert.ok(all.length < SECONDS, `${all.length} in ${SECONDS} s: ${all.join(", ")}`);
  // Five that show the same ask five times as much as one.
  for (const page of [service, story.page, replay.page]) {
    const calls = ofCatalog(page);
    assert.ok(CONSOLES * calls.length < SECONDS, `${CONSOLES} × ${calls.length} in ${SECONDS} s: ${calls.join(", ")}`);
  }
  const everything = pages.flatMap(askedBy);
  for (const path of ["/v1/operator/attention", `/v1/operator/advertisers/${SURVEY.advertiser}/postbacks`]) {
    assert.ok(everything.includes(`GET ${path}`), `${path} is kept up to date`);
  }
  for (const { page, path } of [story, replay]) {
    assert.ok(page.polls.includes(`GET ${path}`), `${path} is kept up to date`);
    // A page that is left open does not extend the session of somebody who has gone.
    assert.deepEqual(askedBy(page), page.polls, "what a page asks by itself says that it is a poll");
  }
  for (const page of pages) await closePage(page);
});
