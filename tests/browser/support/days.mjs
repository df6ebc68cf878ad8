// Days of a publisher's facts in each state, which no store reaches within a test, and what a restatement of one says.

import { answerFor } from "./console.mjs";
import { addDays, today } from "./facts.mjs";
import { DEMO } from "./signpost.mjs";

const sums = (rows, revenue) => ({
  segments: 1,
  rows,
  ad_requests: rows * 100,
  ad_responses: rows * 90,
  impressions: rows * 80,
  clicks: rows * 4,
  revenue,
});
const loaded = (rows, day) => ({
  ...sums(rows, rows * 0.9),
  loaded_at: Date.parse(day) / 1000,
  loaded_by: "Nora Lind",
});

export const ago = (days) => addDays(today(), -days);

/** The newest first. Today is not over, and the day before yesterday has nothing to load. */
export const daysInEachState = () => [
  { date: ago(0), state: "not_loaded", offers: sums(3, 1.5) },
  { date: ago(1), state: "not_loaded", offers: sums(40, 31.5) },
  { date: ago(2), state: "open", loaded: { ...loaded(0, ago(1)), segments: 0 }, offers: sums(38, 29.25) },
  { date: ago(3), state: "final", loaded: loaded(1200, ago(2)), offers: sums(41, 30.1) },
  { date: ago(9), state: "final_unconfirmed", loaded: loaded(1180, ago(8)), offers: sums(39, 28.4) },
];

export const factsOf = (page, days) =>
  answerFor(page, "GET", `publishers/${DEMO}/facts`, { json: { days, cursor: null } });

/** The answer to a restatement of a day; without `more` nothing changes. */
export const restated = (date, more = {}) => {
  const same = { clicks: 812, revenue: 31.5 };
  return { date, dry_run: true, before: same, after: same, apps: [], damaged_segments: 0, not_kept: [], ...more };
};

export const CHANGED = {
  after: { clicks: 812, revenue: 37.750001 },
  apps: [{ app_id: "10000001", before: { clicks: 640, revenue: 20 }, after: { clicks: 640, revenue: 26.250001 } }],
};
