// Numbers, money, percentages and UTC dates as text.

const NUMBERS = "en-US";
const DATES = "en-GB";

const usd = (options: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(NUMBERS, { style: "currency", currency: "USD", ...options });
const exactDollars = usd({ minimumFractionDigits: 2, maximumFractionDigits: 6 });
const integer = new Intl.NumberFormat(NUMBERS, { maximumFractionDigits: 0 });
const exactNumber = new Intl.NumberFormat(NUMBERS, { maximumFractionDigits: 20 });
const compactNumber = new Intl.NumberFormat(NUMBERS, { notation: "compact", maximumFractionDigits: 1 });
const dollars = usd({});
const preciseDollars = usd({ minimumFractionDigits: 4 });
const compactDollars = usd({ notation: "compact", minimumFractionDigits: 0, maximumFractionDigits: 2 });
const percentage = new Intl.NumberFormat(NUMBERS, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

export const count = (value: number) => integer.format(value);
/** An amount in an app's currency, with all of its decimals. */
export const amount = (value: number | string) => exactNumber.format(Number(value));
export const percent = (ratio: number) => percentage.format(ratio);

/** Dollars and cents. An amount that rounds to $0.00 reads "<$0.01", because $0.00 would read as nothing. */
export function money(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.005) return value > 0 ? "<$0.01" : ">-$0.01";
  return dollars.format(value);
}

/** `money` of an amount in micro-USD. */
export const moneyOf = (micro: number) => money(micro / 1_000_000);

/** Four decimals, for amounts per click. */
export const smallMoney = (value: number) => preciseDollars.format(value);

/** Dollars with all of their decimals, at least the cents. */
export const exactMoney = (value: number) => exactDollars.format(value);

/** `exactMoney` of an amount in micro-USD. */
export const exactMoneyOf = (micro: number) => exactMoney(micro / 1_000_000);

const SIZES: [string, number, number][] = [
  ["GB", 1_000_000_000, 2],
  ["MB", 1_000_000, 1],
  ["kB", 1000, 1],
];

/** 999 bytes, 1.5 kB, 67.1 MB, 8.50 GB: in units of 1,000 bytes, 1,000 kB and 1,000 MB. */
export function sizeText(bytes: number): string {
  const found = SIZES.find(([, size]) => bytes >= size);
  if (!found) return `${bytes} bytes`;
  const [unit, size, decimals] = found;
  return `${(bytes / size).toFixed(decimals)} ${unit}`;
}

// Control characters other than spaces, and the characters that change the direction of text. A single one of these can
// end the isolation that a page gives the text.
const INVISIBLE = /[^\P{Cc}\t\n\r]|[\u202A-\u202E\u2066-\u2069]/gu;

/** Text with its invisible characters as code points: U+202E reads “[U+202E]”. */
export const visibleText = (text: string) =>
  text.replace(INVISIBLE, (sign) => `[U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`);

export type Unit = "count" | "money" | "ratio";

export function formatUnit(unit: Unit, value: number): string {
  if (unit === "money") return money(value);
  return unit === "ratio" ? percent(value) : count(value);
}

/** Short text for a chart's axis. */
export function axisValue(unit: Unit, value: number): string {
  if (unit === "money") return compactDollars.format(value);
  if (unit === "ratio") return `${Number((value * 100).toFixed(2))}%`;
  return compactNumber.format(value);
}

const day = new Intl.DateTimeFormat(DATES, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const shortDay = new Intl.DateTimeFormat(DATES, { day: "numeric", month: "short", timeZone: "UTC" });
const weekday = new Intl.DateTimeFormat(DATES, { weekday: "short", timeZone: "UTC" });
const clock = new Intl.DateTimeFormat(DATES, { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });

// British English abbreviates September alone to four letters, which breaks a column of dates.
const threeLetters = (text: string) => text.replaceAll("Sept", "Sep");

const utc = (date: string) => new Date(`${date}T00:00:00Z`);

/** 24 Nov 2026 */
export const dateText = (date: string) => threeLetters(day.format(utc(date)));
/** 24 Nov */
export const shortDate = (date: string) => threeLetters(shortDay.format(utc(date)));
/** Tue 24 Nov 2026 */
export const dateWithWeekday = (date: string) => `${weekday.format(utc(date))} ${dateText(date)}`;

/** 1 – 24 Nov 2026: what both ends share is written once. */
export const dateRangeText = (start: string, end: string) =>
  start === end ? dateText(start) : threeLetters(day.formatRange(utc(start), utc(end)));

/** 24 Nov 2026, 22:10 UTC; from seconds, or from RFC 3339. */
export function timeText(at: number | string): string {
  const date = new Date(typeof at === "number" ? at * 1000 : at);
  return `${threeLetters(day.format(date))}, ${clock.format(date)} UTC`;
}

const secondsClock = new Intl.DateTimeFormat(DATES, { timeStyle: "medium", timeZone: "UTC" });

/** 24 Nov 2026, 22:10:05 UTC; from seconds. */
export function exactTimeText(at: number): string {
  const date = new Date(at * 1000);
  return `${threeLetters(day.format(date))}, ${secondsClock.format(date)} UTC`;
}

/** 12 seconds, 3 minutes, 2 hours, 5 days; from milliseconds. */
export function durationText(ms: number): string {
  const [unit, size] = DURATIONS.find(([, size]) => ms >= 2 * size) ?? DURATIONS[DURATIONS.length - 1]!;
  const format = { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 0 } as const;
  return new Intl.NumberFormat(NUMBERS, format).format(Math.round(ms / size));
}

const DURATIONS: [string, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** 22:10 UTC; from milliseconds. */
export const clockText = (at: number) => `${clock.format(new Date(at))} UTC`;

export function addDays(date: string, days: number): string {
  const moved = utc(date);
  moved.setUTCDate(moved.getUTCDate() + days);
  return moved.toISOString().slice(0, 10);
}

/** The first second of a UTC day, in UNIX seconds. */
export const startOf = (date: string) => Date.parse(`${date}T00:00:00Z`) / 1000;

/** The second after a UTC day, in UNIX seconds. */
export const endOf = (date: string) => startOf(addDays(date, 1));

/** Days from `start` to `end`, both included. */
export const daysIn = (start: string, end: string) => Math.round((+utc(end) - +utc(start)) / 86_400_000) + 1;

export const datesIn = (start: string, end: string) =>
  Array.from({ length: Math.max(0, daysIn(start, end)) }, (_, index) => addDays(start, index));

export function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(+utc(text)) && utc(text).toISOString().startsWith(text);
}

const MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec";

/** The date of a text such as 2026-11-25, 25 Nov 2026 or Wed 25 Nov 2026. Other text stays as it is. */
export function readDate(text: string): string {
  const typed = text.trim();
  const [, day = "", month = "", year] = /^(?:[a-z]+,? )?(\d{1,2}) ([a-z]{3})[a-z]* (\d{4})$/i.exec(typed) ?? [];
  const number = String(MONTHS.indexOf(month.toLowerCase()) / 3 + 1).padStart(2, "0");
  const date = `${year}-${number}-${day.padStart(2, "0")}`;
  return isDate(date) ? date : typed;
}

/** A time as people type it, in UTC: 24 Nov 2026, 22:10, with seconds unless they are 0. From UNIX seconds. */
export const typedTime = (at: number) => (at % 60 === 0 ? timeText : exactTimeText)(at).replace(" UTC", "");

/** Parses a typed time into UNIX seconds. A date alone is its first minute. Undefined if the text is not a time. */
export function readTime(text: string): number | undefined {
  const [, date = "", clock = "00:00"] =
    /^(.+?)(?:(?:, ?|T| )(\d{1,2}:\d{2}(?::\d{2})?))?(?: ?UTC|Z)?$/i.exec(text.trim()) ?? [];
  const day = readDate(date);
  const ms = isDate(day) ? Date.parse(`${day}T${clock.replace(/^\d:/, "0$&")}Z`) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms / 1000;
}

const regions = new Intl.DisplayNames(["en"], { type: "region", fallback: "code" });

/** The country's name, such as Germany; the code itself if it names no country. */
export function countryName(code: string): string {
  if (code === "ZZ") return "Unknown country";
  try {
    return regions.of(code) ?? code;
  } catch {
    return code;
  }
}

export const signed = (amount: number, write: (amount: number) => string) =>
  amount > 0 ? `+${write(amount)}` : amount < 0 ? `−${write(-amount)}` : write(0);

/** The relative change from `before` to `now`, or null if there is nothing to compare with. */
export function change(now: number | undefined, before: number | undefined): number | null {
  return before ? ((now ?? 0) - before) / Math.abs(before) : null;
}
