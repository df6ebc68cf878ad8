// The demo's facts, moved in time: views show the last days, so the facts have to end today.

import { readFile } from "node:fs/promises";

const DAY = 86_400_000;
const HEADER = /^date,/;

export const addDays = (date, days) => new Date(Date.parse(date) + days * DAY).toISOString().slice(0, 10);

/** The day in UTC, as Signpost counts it. */
export const today = () => new Date().toISOString().slice(0, 10);

/** `fixtures/facts.csv` with `lastDay` in the place of its last day. */
export async function demoFacts(lastDay) {
  const text = await readFile(new URL("../../../fixtures/facts.csv", import.meta.url), "utf8");
  const [header, ...rows] = text.trimEnd().split("\n");
  if (!HEADER.test(header)) throw new Error(`facts.csv begins with ${header}`);
  const dates = rows.map((row) => row.slice(0, 10));
  const last = dates.reduce((latest, date) => (date > latest ? date : latest));
  const shift = Math.round((Date.parse(lastDay) - Date.parse(last)) / DAY);
  return [header, ...rows.map((row, index) => addDays(dates[index], shift) + row.slice(10))].join("\n");
}
