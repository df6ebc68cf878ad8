// Final days of the demo, and a change of one.

import { addDays } from "./facts.mjs";
import { DEMO } from "./signpost.mjs";

export const FACTS_HEADER =
  "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n";
const CSV = { "Content-Type": "text/csv" };
/** What is added to the day. */
export const ADDED = [
  ["10000001", "DE,home,rewarded,northlight,7.1,400,380,350,12,3.25"],
  ["10000002", "US,end,banner,northlight,7.1,9,9,9,1,-0.75"],
];

/** The last final day, as soon as there is one, from an earliest one on. */
async function finalDay(signpost, earliest = "") {
  const cookie = await signpost.signIn();
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { final_through: day } = await signpost.dashboard(cookie, "GET", "/changes");
    if (day && day >= earliest) return day;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error("no day has become final");
}

/** Makes days of the demo final up to yesterday; returns the last one. */
export async function makeDaysFinal(signpost) {
  // Two days of the demo have no facts, which is to be said before the days after them are final.
  const gap = await finalDay(signpost);
  for (const after of [1, 2]) {
    await signpost.operator("PUT", `/publishers/${DEMO}/facts/${addDays(gap, after)}`, FACTS_HEADER, CSV);
  }
  return finalDay(signpost, addDays(gap, 3));
}

/** Adds facts to a final day of the demo. */
export async function changeFinalDay(signpost, day) {
  for (const [app, facts] of ADDED) {
    const headers = { ...CSV, "Idempotency-Key": `change-${app}` };
    await signpost.operator("POST", `/publishers/${DEMO}/facts`, `${FACTS_HEADER}${day},${app},${facts}\n`, headers);
  }
}
