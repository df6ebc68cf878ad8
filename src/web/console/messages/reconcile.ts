// Text of the comparison of an app's day.

import { count, dateText, exactMoneyOf, percent } from "../../shared/format";
import { plural } from "../../shared/messages/plural";
import type { Comparison } from "../../shared/generated/openapi";

type DayRewards = Pick<Comparison, "rewards" | "rewards_after_24_h" | "rewards_by_superseded_terms">;

/** 50 (5.0%) */
export const shareText = (part: number, all: number) => `${count(part)} (${percent(part / all)})`;

export const reconcile = {
  title: "Reconcile a day",
  intro:
    "Compares a UTC day of an app in its outboxes, which pay its rewards, and in the publisher's ledger, which makes " +
    "the reports. Nothing is changed. A day can be compared for 400 days.",
  day: "Day, in UTC",
  badDay: "Enter a day.",
  notFound: "There is no app with this App-Id.",
  compare: "Compare",
  comparing: "Comparing…",
  result: "Result of the comparison",
  agree: (date: string) => `${dateText(date)} agrees: every reward and reversal is in the ledger.`,
  agreeWaiting: (date: string, micro: number) =>
    `${dateText(date)} agrees so far: ${exactMoneyOf(micro)} still waits to be sent to the ledger, which takes seconds.`,
  differ: (date: string, micro: number) => `${dateText(date)} differs by ${exactMoneyOf(micro)}.`,
  again: "Tell the developers:",
  outboxDiffers: (outboxes: number[]) =>
    `${outboxes.length === 1 ? "outbox" : "outboxes"} ${outboxes.join(", ")} and the ledger have different totals. ` +
    "The side that is behind was damaged or restored to an earlier time.",
  ledgerDiffers: "the ledger has the right total of each outbox, but its figures of the day were damaged.",
  behind: { ledger: "the ledger is behind", log: "the outbox is behind" },
  sums: "Totals of the day",
  what: "Total",
  amount: "USD",
  paid: "Paid by the app's outboxes, rewards less reversals",
  waiting: "Of this, waiting to be sent to the ledger",
  ledger: "Counted in the ledger",
  difference: "Difference",
  noDifference: "none",
  rewards: ({ rewards, rewards_after_24_h: late, rewards_by_superseded_terms: old }: DayRewards) =>
    rewards === 0
      ? "No rewards on this day."
      : `${plural(rewards, "reward", "rewards")}. ${shareText(late, rewards)} came more than 24 hours after the click, ` +
        `and ${shareText(old, rewards)} were paid under earlier terms, as promised at the click.`,
  outboxes: "By outbox",
  outbox: "Outbox",
  rewardsCount: "Rewards",
  reversals: "Reversals",
  paidShort: "Paid",
  waitingShort: "Waiting",
  ledgerShort: "In the ledger",
  leftOut: (quiet: number) =>
    `${plural(quiet, "outbox", "outboxes")} without rewards on this day ${quiet === 1 ? "is" : "are"} left out.`,
  transactions: "Transactions of the offers that differ",
  transactionsNote: "At most 100. Compare them with the publisher's own records of callbacks.",
  transaction: "Transaction",
  offer: "Offer",
};
