// Dates of a report: presets, and the period before.

import { addDays, daysIn } from "../../../shared/format";
import type { DateRange } from "../../types";

export const PRESETS = ["today", "yesterday", "last_7", "last_30", "last_90", "this_month", "last_month"] as const;
export type Preset = (typeof PRESETS)[number];

/** The days that presets and comparisons go by. */
export interface Days {
  today: string;
  /** The last day of which there is all data; those after it would be compared as if nothing had been earned. */
  last: string;
  /** Days after it can still change, where one is final. */
  finalThrough?: string | null;
}

/** Dates of a preset. The last days are those of which there is all data. */
export function presetRange(preset: Preset, { today, last }: Days): DateRange {
  const yesterday = addDays(today, -1);
  const lastDays = (count: number) => ({ start_date: addDays(last, 1 - count), end_date: last });
  const firstOfMonth = `${today.slice(0, 7)}-01`;
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
  /** As many days before them. */
  before: DateRange;
  /** Days from a date of `before` to its counterpart in `now`. */
  days: number;
  leavesOutDays: boolean;
}

/** The range that one is compared with; null where it has no complete day. */
export function comparison(range: DateRange, { last }: Days): Comparison | null {
  const leavesOutDays = range.end_date > last;
  const end = leavesOutDays ? last : range.end_date;
  if (end < range.start_date) return null;
  const days = daysIn(range.start_date, end);
  return {
    now: { start_date: range.start_date, end_date: end },
    before: { start_date: addDays(range.start_date, -days), end_date: addDays(end, -days) },
    days,
    leavesOutDays,
  };
}
