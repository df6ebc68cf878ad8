// The console's pages when their first call is refused, not answered, or answered too late to wait for.

import { SURVEY, WEB_APP } from "../support/rewards.mjs";
import { DEMO } from "../support/signpost.mjs";

const REWARD = "00000000-0000-4000-8000-000000000000";
const OPERATOR = "/v1/operator";

/** The pages by name: their addresses, and the calls that they cannot do without. */
const PAGES = {
  attention: ["", `${OPERATOR}/attention`],
  publishers: ["/publishers", `${OPERATOR}/publishers`],
  publisher: [`/publishers/${DEMO}`, `${OPERATOR}/publishers/${DEMO}`],
  app: [`/apps/${WEB_APP}`, `${OPERATOR}/apps/${WEB_APP}`],
  offers: ["/offers", `${OPERATOR}/offers`],
  offer: [`/offers/${SURVEY.offer}`, `${OPERATOR}/offers/${SURVEY.offer}`],
  advertisers: ["/advertisers", `${OPERATOR}/advertisers`],
  advertiser: [`/advertisers/${SURVEY.advertiser}`, `${OPERATOR}/advertisers/${SURVEY.advertiser}`],
  rewards: [`/rewards?app=${WEB_APP}`, `${OPERATOR}/apps/${WEB_APP}/conversions`],
  reward: [`/apps/${WEB_APP}/rewards/${REWARD}`, `${OPERATOR}/apps/${WEB_APP}/conversions/${REWARD}/story`],
  service: ["/service", `${OPERATOR}/service`],
  search: ["/search#text=x", `${OPERATOR}/search`],
  ...Object.fromEntries(
    ["members", "passkeys", "sessions", "audit"].map((name) => [name, [`/settings/${name}`, `/v1/console/${name}`]]),
  ),
};

const answer =
  (status, code, headers = {}) =>
  (route) =>
    route.fulfill({ status, headers, json: { error: "no", code } });

const FAULTS = {
  refused: { status: 403, fulfil: answer(403, "role_forbids"), says: "Your role does not include this" },
  busy: { status: 503, fulfil: answer(503, "unavailable", { "Retry-After": "30" }), says: "Try again in 30 seconds." },
  limited: {
    status: 429,
    fulfil: answer(429, "too_many_requests", { "Retry-After": "40" }),
    says: "Try again in 40 seconds.",
  },
  offline: {
    status: 0,
    fulfil: (route) => route.abort("internetdisconnected"),
    says: "There is no connection to Signpost.",
  },
};

function faulty([path, call], { status, fulfil, says }, cookie) {
  return {
    path: `/console${path}`,
    cookie,
    refusals: [[status, call]],
    prepare: (page) => page.route((url) => url.pathname === call, fulfil),
    shows: (page) => page.getByText(says).first().waitFor(),
  };
}

/** Each page in each trouble. `support` is the cookie of a member whose role has less. */
export const states = ({ admin, support }) =>
  Object.fromEntries(
    Object.entries(PAGES).flatMap(([name, page]) =>
      Object.entries(FAULTS).map(([fault, of]) => [
        `console-${name}-${fault}`,
        faulty(page, of, fault === "refused" ? support : admin),
      ]),
    ),
  );

/** The addresses of the pages that every role sees. */
export const paths = Object.entries(PAGES).flatMap(([name, [path]]) => (name === "reward" ? [] : [`/console${path}`]));
