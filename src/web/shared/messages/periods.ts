// Text of periods and of dates that are typed.

import { dateText } from "../format";

export const periods = {
  label: "Dates",
  /** Each with the letter that chooses it. */
  presets: {
    today: ["Today", "T"],
    yesterday: ["Yesterday", "Y"],
    last_7: ["Last 7 days", "S"],
    last_30: ["Last 30 days", "H"],
    last_90: ["Last 90 days", "N"],
    this_week: ["This week", "W"],
    last_week: ["Last week", "K"],
    this_month: ["This month", "M"],
    last_month: ["Last month", "L"],
  },
  any: ["Any time", "A"],
  since: (start: string) => `Since ${dateText(start)}`,
  upTo: (end: string) => `Up to ${dateText(end)}`,
  note: (hasToday: boolean) =>
    `Days are UTC, and weeks begin on Monday. The last 7, 30 and 90 days ${hasToday ? "include today" : "are complete, without today"}.`,
  letters: "Single-letter shortcuts for periods",
  custom: ["Custom dates", "C"],
  from: "From",
  to: "To",
  apply: "Apply",
  badDates: {
    missing: "Enter both dates.",
    order: "The last date is before the first.",
    long: "A report covers at most 91 days.",
    future: "The last date is in the future.",
  },
  unreadable: (typed: string) => `“${typed}” is not a date. Enter it as 25 Nov 2026 or 2026-11-25.`,
};
