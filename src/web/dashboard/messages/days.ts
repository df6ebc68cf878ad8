// Text of a day's figures and of changed days.

import { dateText } from "../../shared/format";
import type { OfferOfDay, ChangeCause } from "../types";

export const days = {
  trail: "Levels above",
  isFinal: "These figures are final.",
  isOpen: "Not final yet: these figures can still change.",
  unknownApp: "App not found",
  appsTitle: "Revenue by app",
  app: "App",
  offerwall: "Offerwall",
  ads: "Ads",
  total: "Total",
  someRows: "The apps with the highest revenue are shown. The total counts all of them.",
  none: "Nothing was counted on this day.",
  sourcesTitle: "Revenue by demand source",
  source: "Demand source",
  revenue: "Revenue",
  clicks: "Clicks",
  offersTitle: "Offerwall by offer",
  offersNote:
    "A reward counts on the day it is approved, a reversal on the day it is made. Pending and held rewards are not counted yet. Ad revenue comes from the ad networks and has no rewards.",
  noOffers: "No offer was clicked or paid on this day.",
  offer: "Offer",
  rewards: "Rewards",
  reversals: "Reversals",
  paid: "Rewards less reversals",
  difference: "Why it differs",
  reasons: {
    on_their_way: "The newest rewards reach the reports within minutes.",
    log_deleted: "Rewards this old are no longer stored.",
    differs: "This is a fault. Your account manager has been told.",
  } satisfies Record<NonNullable<OfferOfDay["reason"]>, string>,
  paymentsTitle: "Rewards and reversals",
  reward: "Reward",
  time: "Time",
  goal: "Goal",
  amount: "Amount",
  noPayments: "No reward of this offer was approved or reversed on this day.",
  sums: (revenue: string, paid: string) => `Revenue in reports: ${revenue}. Rewards less reversals: ${paid}.`,
};

export const changes = {
  title: "Changed days",
  intro: (through: string | null) =>
    through
      ? `Days up to ${dateText(through)} are final. If one still changes, the change is listed here for 400 days.`
      : "No day is final yet. A day is final once all of its figures are loaded and checked.",
  emptyTitle: "No final day has changed",
  empty: "A change appears here with its cause and time.",
  date: "Day",
  app: "App",
  revenue: "Revenue",
  was: (amount: string) => `was ${amount}`,
  difference: "Difference",
  others: "Also changed",
  cause: "Why and when",
  causes: {
    facts_replaced: "Ad figures were loaded again",
    facts_added: "Ad figures were added",
    late_batch: "Clicks or rewards came late",
    restated: "Figures were rebuilt from the logs",
    restored: "Figures were restored from a copy",
  } satisfies Record<ChangeCause, string>,
};
