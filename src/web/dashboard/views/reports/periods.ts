// Dates of a report: presets, and the days that they are compared with.

import { addDays, daysIn } from "../../../shared/format";
import type { DateRange, Overview } from "../../types";

export const PRESETS = [
  "today",
  "yesterday",
  "last_7",
  "last_30",
  "last_90",
  "this_week",
  "last_week",
  "this_month",
  "last_month",
] as const;
export type Preset = (typeof PRESETS)[number];

/** The days that presets and comparisons go by. */
export interface Days {
  today: string;
  /** The last day of which there is all data; those after it would be compared as if nothing had been earned. */
  last: string;
  /** Days after it can still change, where one is final. */
  finalThrough?: string | null;
}

/** Until the server has said them, the day in UTC and the one before. */
export function daysOf(overview: Overview | undefined): Days {
  if (overview) return { today: overview.today, last: overview.last_day, finalThrough: overview.final_through };
  const today = new Date().toISOString().slice(0, 10);
  return { today, last: addDays(today, -1) };
}

/** 0 for a Monday. */
const weekdayOf = (date: string) => (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7;

/** Dates of a preset. The last days are those of which there is all data. */
export function presetRange(preset: Preset, { today, last }: Days): DateRange {
  const yesterday = addDays(today, -1);
  const lastDays = (count: number) => ({ start_date: addDays(last, 1 - count), end_date: last });
  const firstOfMonth = `${today.slice(0, 7)}-01`;
  const monday = addDays(today, -weekdayOf(today));
  switch (preset) {
    case "today":
      return { start_date: today, end_date: today };
    case "yesterday":
      return { start_date: yesterday, end_date: yesterday };
    case "last_7":
      return lastDays(7);
    case "last_30":
      return lastDays(30);
    case "last_90":
      return lastDays(90);
    case "this_week":
      return { start_date: monday, end_date: today };
    case "last_week":
      return { start_date: addDays(monday, -7), end_date: addDays(monday, -1) };
    case "this_month":
      return { start_date: firstOfMonth, end_date: today };
    case "last_month": {
      const end = addDays(firstOfMonth, -1);
      return { start_date: `${end.slice(0, 7)}-01`, end_date: end };
    }
  }
}

export interface Comparison {
  /** The days of the range of which there is all data. */
  now: DateRange;
  /** As many days before the range, on the same weekdays. */
  before: DateRange;
  /** Days from a date of `before` to its counterpart in `now`. */
  days: number;
  leavesOutDays: boolean;
}

/** Days between a period and the one it is compared with: whole weeks, because weekends earn other sums than weekdays. */
export const daysBack = (length: number) => Math.ceil(length / 7) * 7;

/**
 * The days that those of a range are compared with; null where the range has no complete day. The whole range goes back, also where
 * its last days are left out because they lack data.
 */
export function comparison(range: DateRange, { last }: Days): Comparison | null {
  const leavesOutDays = range.end_date > last;
  const end = leavesOutDays ? last : range.end_date;
  if (end < range.start_date) return null;
  const days = daysBack(daysIn(range.start_date, range.end_date));
  return {
    now: { start_date: range.start_date, end_date: end },
    before: { start_date: addDays(range.start_date, -days), end_date: addDays(end, -days) },
    days,
    leavesOutDays,
  };
}
