// The views of the dashboard and their paths.

import { computed } from "@preact/signals";
import type { Section } from "../shared/messages";
import { isDate } from "../shared/format";
import { pathParts, ROOT } from "../shared/navigation";
import { queryText } from "../shared/query-text";

export const SECTIONS: Section[] = ["keys", "pub_key", "members", "alarms", "passkeys", "sessions", "audit"];

export type Route =
  | { view: "overview" | "reports" | "changes" | "apps" | "rewards" | "missing" }
  | { view: "day"; date: string }
  | { view: "app" | "offers"; appId: string }
  | { view: "reward"; appId: string; transactionId: string }
  | { view: "settings"; section: Section | null };

const APP_ID = /^[0-9]{8}$/;

export const route = computed<Route>(() => {
  const [view, first, second, third, ...rest] = pathParts.value;
  if (rest.length > 0) return { view: "missing" };
  if (view === undefined) return { view: "overview" };
  if (first === undefined) {
    if (view === "reports" || view === "changes" || view === "apps" || view === "rewards") return { view };
    if (view === "settings") return { view, section: null };
  } else if (view === "settings" && second === undefined) {
    const section = SECTIONS.find((name) => name === first);
    if (section) return { view, section };
  } else if (view === "days" && second === undefined && isDate(first)) {
    return { view: "day", date: first };
  } else if (view === "apps" && APP_ID.test(first)) {
    if (second === undefined) return { view: "app", appId: first };
    if (second === "offers" && third === undefined) return { view: "offers", appId: first };
    if (second === "rewards" && third !== undefined) return { view: "reward", appId: first, transactionId: third };
  }
  return { view: "missing" };
});

export const OVERVIEW_PATH = ROOT;
export const REPORTS_PATH = `${ROOT}/reports`;
export const CHANGES_PATH = `${ROOT}/changes`;
/** The figures of a day: of all apps, of one app, or of one offer in the app. */
export const dayPath = (date: string, app = "", offer = "") => `${ROOT}/days/${date}${queryText({ app, offer })}`;
export const APPS_PATH = `${ROOT}/apps`;
/** URL fragment that opens the form for a test app on the page of apps. */
export const TEST_HASH = "#test";
export const REWARDS_PATH = `${ROOT}/rewards`;
/** URL fragment that opens the log's dialog for resending callbacks. */
export const REPLAY_HASH = "#replay";
export const givenUpPath = (appId: string) => `${REWARDS_PATH}?app=${appId}&delivery=dead`;
export const SETTINGS_PATH = `${ROOT}/settings`;
export const appPath = (appId: string) => `${APPS_PATH}/${appId}`;
export const offersPath = (appId: string) => `${APPS_PATH}/${appId}/offers`;
export const rewardPath = (appId: string, transactionId: string) => `${APPS_PATH}/${appId}/rewards/${transactionId}`;
