// Periods: the presets of every page with dates.

import type { Schemas } from "./api-types";
import { addDays } from "./format";
import { periods as text } from "./messages/periods";

export type Preset = keyof typeof text.presets;
export const PRESETS = Object.keys(text.presets) as Preset[];

export type DateRange = Schemas["BatchQuery"]["date_range"];

/** The days that presets and comparisons are based on. */
export interface Days {
  today: string;
  /** The last complete day. Comparing a later one would count missing data as no revenue. */
  last: string;
  /** The last final day, if there is one. Days after it can still change. */
  finalThrough?: string | null;
}

/** The days of a list. They include today, because the newest rows matter. */
export function daysOfList(): Days {
  const today = new Date().toISOString().slice(0, 10);
  return { today, last: today };
}

/** Dates of a preset. Weeks begin on Monday. “Last 7 days” ends with the last complete day. */
export function presetRange(preset: Preset, { today, last }: Days): DateRange {
  const yesterday = addDays(today, -1);
  const monday = addDays(today, -((new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7));
  const firstOf = (date: string) => `${date.slice(0, 7)}-01`;
  const lastMonth = addDays(firstOf(today), -1);
  const days = (start_date: string, end_date: string): DateRange => ({ start_date, end_date });
  return {
    today: days(today, today),
    yesterday: days(yesterday, yesterday),
    last_7: days(addDays(last, -6), last),
    last_30: days(addDays(last, -29), last),
    last_90: days(addDays(last, -89), last),
    this_week: days(monday, today),
    last_week: days(addDays(monday, -7), addDays(monday, -1)),
    this_month: days(firstOf(today), today),
    last_month: days(firstOf(lastMonth), lastMonth),
  }[preset];
}
