// The views of the console and their paths.

import { computed } from "@preact/signals";
import type { Section } from "../shared/messages";
import { pathParts, ROOT } from "../shared/navigation";
import { isAppId, isId } from "./ids";

/** Views with a single page, whose path is the view's name. */
const PAGES = ["search", "publishers", "offers", "import", "advertisers", "postbacks", "rewards", "service"] as const;

export type Route =
  | { view: "attention" | (typeof PAGES)[number] | "missing" }
  | { view: "publisher"; publisherId: string }
  | { view: "app"; appId: string }
  | { view: "offer"; offerId: string }
  | { view: "advertiser"; advertiserId: string }
  | { view: "reward"; appId: string; transactionId: string }
  | { view: "settings"; section: Section | null };

export const SECTIONS: Section[] = ["members", "alarms", "passkeys", "sessions", "audit"];

export const route = computed<Route>(() => {
  const [view, first, second, third, ...rest] = pathParts.value;
  if (rest.length > 0) return { view: "missing" };
  if (view === undefined) return { view: "attention" };
  if (first === undefined) {
    if (view === "settings") return { view, section: null };
    const page = PAGES.find((name) => name === view);
    if (page) return { view: page };
  } else if (second === undefined && isId(first)) {
    if (view === "publishers") return { view: "publisher", publisherId: first };
    if (view === "apps" && isAppId(first)) return { view: "app", appId: first };
    if (view === "offers") return { view: "offer", offerId: first };
    if (view === "advertisers") return { view: "advertiser", advertiserId: first };
  } else if (view === "apps" && isAppId(first) && second === "rewards" && third !== undefined) {
    return { view: "reward", appId: first, transactionId: third };
  }
  const section = view === "settings" && second === undefined && SECTIONS.find((name) => name === first);
  return section ? { view: "settings", section } : { view: "missing" };
});

export const ATTENTION_PATH = ROOT;
export const SEARCH_PATH = `${ROOT}/search`;
export const PUBLISHERS_PATH = `${ROOT}/publishers`;
export const OFFERS_PATH = `${ROOT}/offers`;
export const IMPORT_PATH = `${ROOT}/import`;
export const ADVERTISERS_PATH = `${ROOT}/advertisers`;
export const POSTBACKS_PATH = `${ROOT}/postbacks`;
export const REWARDS_PATH = `${ROOT}/rewards`;
export const SERVICE_PATH = `${ROOT}/service`;
export const SETTINGS_PATH = `${ROOT}/settings`;
/** URL fragment that opens the dialog for a publisher's approval on the publisher's page. */
export const APPROVE_HASH = "#approve";
export const publisherPath = (publisherId: string) => `${PUBLISHERS_PATH}/${publisherId}`;
export const appPath = (appId: string) => `${ROOT}/apps/${appId}`;
export const offerPath = (offerId: string) => `${OFFERS_PATH}/${offerId}`;
export const advertiserPath = (advertiserId: string) => `${ADVERTISERS_PATH}/${advertiserId}`;
export const rewardPath = (appId: string, transactionId: string) => `${appPath(appId)}/rewards/${transactionId}`;
