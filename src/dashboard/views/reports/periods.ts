// Dates of a report: presets, and the period before.

import { addDays, daysIn } from "../../format";
import type { DateRange } from "../../types";

export const PRESETS = ["today", "yesterday", "last_7", "last_30", "last_90", "this_month", "last_month"] as const;
export type Preset = (typeof PRESETS)[number];

// The API refuses an end more than 90 days after the start.
export const MOST_DAYS = 91;

/** Dates of a preset. The last days are complete ones and leave today out. */
export function presetRange(preset: Preset, today: string): DateRange {
  const yesterday = addDays(today, -1);
  const firstOfMonth = `${today.slice(0, 7)}-01`;
  switch (preset) {
    case "today":
      return { start_date: today, end_date: today };
    case "yesterday":
      return { start_date: yesterday, end_date: yesterday };
    case "last_7":
      return { start_date: addDays(today, -7), end_date: yesterday };
    case "last_30":
      return { start_date: addDays(today, -30), end_date: yesterday };
    case "last_90":
      return { start_date: addDays(today, -90), end_date: yesterday };
    case "this_month":
      return { start_date: firstOfMonth, end_date: today };
    case "last_month": {
      const end = addDays(firstOfMonth, -1);
      return { start_date: `${end.slice(0, 7)}-01`, end_date: end };
    }
  }
}

export interface Comparison {
  /** The complete days of the range. */
  now: DateRange;
  /** As many days before them. */
  before: DateRange;
  /** Days from a date of `before` to its counterpart in `now`. */
  days: number;
  leavesOutToday: boolean;
}

/** The range that one is compared with; null where it has no complete day. */
export function comparison(range: DateRange, today: string): Comparison | null {
  const leavesOutToday = range.end_date >= today;
  const end = leavesOutToday ? addDays(today, -1) : range.end_date;
  if (end < range.start_date) return null;
  const days = daysIn(range.start_date, end);
  return {
    now: { start_date: range.start_date, end_date: end },
    before: { start_date: addDays(range.start_date, -days), end_date: addDays(end, -days) },
    days,
    leavesOutToday,
  };
}
