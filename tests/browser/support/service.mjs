// Answers about the service that a test cannot wait for: what instances reported, and sums that are not in the reports.

import { addDays, today } from "./facts.mjs";
import { changed } from "./faults.mjs";

const SOON = { isolates: 1, last_ms: Date.now() - 60_000 };

/** Figures of a bad day, as the API reports them of all instances and of the night's comparison. */
export const BAD_DAY = {
  isolates: [
    { figure: "clicks_uncounted", number: 1_204, ...SOON, isolates: 2 },
    { figure: "memory_bytes", number: 115 * 2 ** 20, ...SOON },
    { figure: "panics", number: 1, ...SOON },
    { figure: "postbacks", kind: "unread", number: 12, ...SOON },
    { figure: "snapshot_age_s", number: 5_400, ...SOON },
    { figure: "unhealthy", kind: "no_listing", number: 3, ...SOON },
    { figure: "shed", kind: "click", number: 40, ...SOON, isolates: 2 },
    { figure: "shed", kind: "sign_in", number: 7, ...SOON },
  ],
  rewards: {
    date: addDays(today(), -1),
    rewards: 1_000,
    rewards_after_24_h: 50,
    rewards_by_superseded_terms: 3,
    apps: [
      {
        app_id: "10000001",
        rewards: 10,
        rewards_after_24_h: 5,
        rewards_by_superseded_terms: 1,
      },
    ],
  },
};

/** The service as it is, but with `reported` in the place of what its own instances reported. */
export const serviceWith = (page, reported) =>
  page.route(
    "**/v1/operator/service",
    changed((service) => Object.assign(service, { reported })),
  );

/** The operator's list with these items, by kind where one is asked for. */
export const attentionOf = (page, items, list = {}) =>
  page.route(
    (url) => url.pathname === "/v1/operator/attention",
    (route) => {
      const kind = new URL(route.request().url()).searchParams.get("kind");
      const shown = items.filter((item) => !kind || item.kind === kind);
      return route.fulfill({ json: { counts: {}, not_listed: {}, behind_ms: 0, cursor: null, ...list, items: shown } });
    },
  );
