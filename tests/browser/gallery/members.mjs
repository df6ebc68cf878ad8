// The people and accounts for which views are opened, all made through the operator's and the dashboard's interfaces.

import { DEMO } from "../support/signpost.mjs";
import { advertiserToken, earn, sendCallbacksTo } from "../support/rewards.mjs";
import { addDays, today } from "../support/facts.mjs";
import { changeFinalDay, makeDaysFinal } from "../support/final-days.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const LONG_NAME = "Brightwater Interactive Entertainment Holdings GmbH";

/** An account with keys, members, open invites and an audit log; returns its owner's cookie. */
export async function makeManager(signpost) {
  const publisher = await signpost.addPublisher("Kite Games");
  await signpost.operator("POST", `/publishers/${publisher}/pub_key`);
  const owner = await signpost.signIn(publisher, "owner", "Ana Ruiz");
  const developer = await signpost.signIn(publisher, "developer", "Tom Weber");
  for (const [by, label] of [
    [owner, "Looker"],
    [developer, "Nightly export to BigQuery"],
  ]) {
    await signpost.dashboard(by, "POST", "/report_keys", { label });
  }
  await signpost.dashboard(owner, "POST", "/report_keys", { label: "Support desk", scope: "ia-privacy.WRITE" });
  await signpost.signIn(publisher, "analyst", "Priya Raghunathan");
  await signpost.dashboard(owner, "POST", "/invites", { name: "Kenji Sato", role: "analyst" });
  return owner;
}

/** The cookies that pages need. */
export const makePageMembers = async (signpost) => ({
  owner: await signpost.signIn(DEMO),
  manager: await makeManager(signpost),
  asked: await makeAsked(signpost),
  several: await makeSeveral(signpost),
  reward: await makeReward(signpost),
  finalDay: await makeChanges(signpost),
  tried: await makeTestApp(signpost),
});

/** A callback of the demo's first app. Nothing answers on this port. */
const makeCallback = (signpost) =>
  sendCallbacksTo(signpost, "http://127.0.0.1:59999/callback?user={user_id}&id={transaction_id}&coins={value}", SECRET);

/** A reward of the demo whose callback finds no receiver. */
async function makeReward(signpost) {
  await makeCallback(signpost);
  return earn(signpost, await advertiserToken(signpost), "player-1");
}

/** Changes of a final day of the demo; returns the day. */
async function makeChanges(signpost) {
  const day = await makeDaysFinal(signpost);
  await changeFinalDay(signpost, day);
  return day;
}

function addApp(signpost, owner, name, test) {
  const app = { name, platform: "web", currency: { name: "Coins", per_usd: 1000 }, test };
  return signpost.dashboard(owner, "POST", "/apps", app, { "Idempotency-Key": `${test}` });
}

/** Adds a test app as its owner does. */
export const addTestApp = (signpost, owner, name) => addApp(signpost, owner, name, true);

/** An account with a test app: its owner, the app, the test page of a click, and its reward. */
async function makeTestApp(signpost) {
  const owner = await signpost.signIn(await signpost.addPublisher("Otter Works"));
  await addApp(signpost, owner, "Kite Racer", false);
  const { app_id: app } = await addTestApp(signpost, owner, "Test app");
  const open = async (offer) => {
    const path = `/apps/${app}/tracking_url`;
    const { url } = await signpost.dashboard(owner, "POST", path, { offer_id: offer, user_id: "player-1" });
    // On a busy machine a click may be answered 503.
    for (let tries = 1; ; tries += 1) {
      const answer = await fetch(url, { redirect: "manual" });
      if (answer.status === 302) return answer.headers.get("Location");
      if (tries === 20) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const report = async (page, goal, status) => {
    const { pathname, search } = new URL(page, signpost.base);
    const body = new URLSearchParams({ click_id: new URLSearchParams(search).get("click_id"), goal, status });
    return (await fetch(signpost.base + pathname, { method: "POST", body })).json();
  };
  const page = await open("signpost-test-three-goals");
  await report(page, "signpost-test-three-goals-2", "pending");
  const paid = await report(page, "signpost-test-three-goals-1", "approved");
  return { owner, app, page, fresh: await open("signpost-test-one-goal"), reward: paid.transaction_id };
}

/** An account whose owner has asked for a new Pub-Key. */
async function makeAsked(signpost) {
  const publisher = await signpost.addPublisher("Otter Works");
  await signpost.operator("POST", `/publishers/${publisher}/pub_key`);
  const owner = await signpost.signIn(publisher);
  const reason = "The old one was in a repository that anybody can read.";
  await signpost.dashboard(owner, "POST", "/pub_key/request", { reason });
  return owner;
}

/** A browser that is signed in to three accounts. */
async function makeSeveral(signpost) {
  let held;
  for (const name of [LONG_NAME, "Otter Works"]) {
    held = await signpost.signIn(await signpost.addPublisher(name), "developer", "Ana Ruiz", held);
  }
  return signpost.signIn(DEMO, "owner", "Ana Ruiz", held);
}

async function makeSuspended(signpost) {
  const name = "Otter Works";
  const publisher = await signpost.addPublisher(name);
  const owner = await signpost.signIn(publisher);
  await signpost.operator("PUT", `/publishers/${publisher}`, { name, approved: false });
  return owner;
}

/** Cookies of the members that states need. */
export async function makeMembers(signpost) {
  const young = await signpost.addPublisher(LONG_NAME);
  const old = await signpost.addPublisher("Otter Works");
  await signpost.addFacts(old, addDays(today(), -10));
  await makeCallback(signpost);
  return {
    owner: await signpost.signIn(DEMO),
    analyst: await signpost.signIn(DEMO, "analyst", "Priya Raghunathan"),
    withoutFacts: await signpost.signIn(young),
    withOldFacts: await signpost.signIn(old),
    unapproved: await signpost.signIn("unapproved-studio"),
    suspended: await makeSuspended(signpost),
    manager: await makeManager(signpost),
  };
}
