// The people and accounts that views are looked at with. All are made through the operator's and the dashboard's interfaces.

import { DEMO } from "../support/signpost.mjs";
import { addDays, today } from "../support/facts.mjs";

/** An account with keys, members, open invites and an audit log; returns its owner's cookie. */
export async function makeManager(signpost) {
  const publisher = await signpost.addPublisher("Kite Games");
  await signpost.operator("POST", `/publishers/${publisher}/pub_key`);
  const owner = await signpost.signIn(publisher, "owner", "Ana Ruiz");
  for (const label of ["Looker", "Nightly export to BigQuery"]) {
    await signpost.dashboard(owner, "POST", "/report_keys", { label });
  }
  await signpost.signIn(publisher, "developer", "Tom Weber");
  await signpost.signIn(publisher, "analyst", "Priya Raghunathan");
  await signpost.dashboard(owner, "POST", "/invites", { name: "Kenji Sato", role: "analyst" });
  return owner;
}

/** Cookies of the members that states need. */
export async function makeMembers(signpost) {
  const young = await signpost.addPublisher("Brightwater Interactive Entertainment Holdings GmbH");
  const old = await signpost.addPublisher("Otter Works");
  await signpost.addFacts(old, addDays(today(), -10));
  return {
    owner: await signpost.signIn(DEMO),
    analyst: await signpost.signIn(DEMO, "analyst", "Priya Raghunathan"),
    withoutFacts: await signpost.signIn(young),
    withOldFacts: await signpost.signIn(old),
    unapproved: await signpost.signIn("unapproved-studio"),
    manager: await makeManager(signpost),
  };
}
