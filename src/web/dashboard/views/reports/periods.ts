// The days of a report, and the days with which they are compared.

import { addDays, daysIn } from "../../../shared/format";
import { type Days, daysOfList } from "../../../shared/periods";
import type { DateRange, Overview } from "../../types";

export * from "../../../shared/periods";

/** Before the server has answered: today in UTC, and the day before it. */
export function daysOf(overview: Overview | undefined): Days {
  if (overview) return { today: overview.today, last: overview.last_day, finalThrough: overview.final_through };
  const { today } = daysOfList();
  return { today, last: addDays(today, -1) };
}

export interface Comparison {
  /** The complete days of the range. */
  now: DateRange;
  /** As many days before the range, on the same weekdays. */
  before: DateRange;
  /** Days from a date of `before` to its counterpart in `now`. */
  days: number;
  leavesOutDays: boolean;
}

/** Days between a period and the one before: whole weeks, because weekends earn other sums than weekdays. */
const daysBack = (length: number) => Math.ceil(length / 7) * 7;

/**
 * The days that a range is compared with; null if the range has no complete day. The whole range determines the number
 * of weeks, even if its last days are left out because they are incomplete.
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
