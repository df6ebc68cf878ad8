// The people and accounts that views are looked at with. All are made through the operator's and the dashboard's interfaces.

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
