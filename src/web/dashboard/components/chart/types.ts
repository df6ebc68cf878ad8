import type { Unit } from "../../../shared/format";

export interface Series {
  id: string;
  label: string;
  /** One value for each date; null if the date has no value. */
  values: (number | null)[];
  /** Dates of the values, if they differ from the chart's own dates, as in the period before. */
  dates?: string[];
  isBefore?: boolean;
}

export interface ChartData {
  title: string;
  dates: string[];
  series: Series[];
  unit: Unit;
  /** Index of today, which is not complete. */
  today: number | null;
}

export interface Geometry {
  x: (index: number) => number;
  y: (value: number) => number;
  /** Width of one day. */
  slot: number;
  bottom: number;
}

/** Class of a series' lines, bars and swatch: its colour and its dashes. */
export const seriesClass = (series: Series, index: number) => (series.isBefore ? "series-before" : `series-${index}`);
