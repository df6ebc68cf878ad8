// Text of the overview.

import { percent, timeText } from "../../shared/format";
import { plural } from "../../shared/messages/plural";

const weeksBefore = (weeks: number) => `${plural(weeks, "week", "weeks")} before`;

export const overview = {
  title: "Overview",
  period: (range: string, before: string | null) =>
    before ? `${range}, complete UTC days, compared with ${before}` : `${range}, UTC, not complete yet`,
  tiles: {
    revenue: "Revenue",
    revenueNote: "estimated, USD",
    clicks: "Clicks",
    perClick: "Revenue per click",
    impressions: "Impressions",
    ecpm: "eCPM",
    allNote: "ads and offerwall",
    adsNote: "without offerwall",
  },
  before: (weeks: number) => `vs ${weeksBefore(weeks)}`,
  nothingBefore: "nothing to compare with",
  notCompared: "not compared",
  beforeFailed: "comparison not available",
  changed: (ratio: number) =>
    ratio > 0 ? `up ${percent(ratio)}` : ratio < 0 ? `down ${percent(-ratio)}` : "no change",
  tileFailed: "Could not be calculated",
  today: "Today so far",
  chartTitle: (metric: string) => `${metric} by day`,
  thisPeriod: "This period",
  weeksBefore,
  metric: "Metric",
  topApps: "Top apps",
  topCountries: "Top countries",
  topNote: (range: string) => `by revenue, ${range}`,
  openReport: "Open as a report",
  emptyTitle: "No numbers yet",
  empty: "Revenue and clicks appear here within minutes of the first click in one of your apps.",
  unapprovedTitle: (publisher: string) => `${publisher} is waiting for approval`,
  unapproved: "Until it is approved, offer requests are answered with “publisher not approved” and you earn nothing.",
  steps: {
    account: "Account created",
    signedIn: "Signed in",
    approval: "Approval by your account manager",
  },
  stepDone: "done",
  stepOpen: "open",
  approvalHint: "There is nothing for you to do. Write to us if it takes longer than expected.",
  restored: (at: number) =>
    `This account was restored from an earlier copy on ${timeText(at)}. Everybody had to sign in again. Check the members: new members and role changes since the copy may be lost.`,
  recovery: (member: string, by: string, at: number) =>
    `${by} made a recovery link for ${member} on ${timeText(at)}. The member’s passkeys and sessions were ended. If nobody expected this, contact support at once.`,
};
