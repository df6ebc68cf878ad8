// Arithmetic of a chart: round steps for the value axis, and which dates to name.

import type { Unit } from "../../../shared/format";

/** Values of the axis' lines, from 0 to at least `largest`, in steps of 1, 2 or 5 times a power of ten. */
export function axisSteps(largest: number, unit: Unit, wanted = 4): number[] {
  if (largest <= 0) return unit === "count" ? [0, 1] : unit === "ratio" ? [0, 0.1] : [0, 1];
  const rough = largest / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((step) => step * power >= rough) ?? 10;
  let step = factor * power;
  // There is no half click.
  if (unit === "count") step = Math.max(1, Math.ceil(step));
  const lines = Math.ceil(largest / step - 1e-9);
  return Array.from({ length: lines + 1 }, (_, index) => index * step);
}

/** Indexes of the dates that have a label: the last date, and earlier dates at equal distances. */
export function labelledDates(dates: number, width: number, labelWidth: number): number[] {
  if (dates === 0) return [];
  const most = Math.max(1, Math.floor(width / labelWidth));
  const distance = Math.max(1, Math.ceil(dates / most));
  const indexes: number[] = [];
  for (let index = dates - 1; index >= 0; index -= distance) indexes.unshift(index);
  return indexes;
}

/** Pieces of a line between gaps, as [index, value] pairs. */
export function pieces(values: (number | null)[]): [number, number][][] {
  const result: [number, number][][] = [];
  let piece: [number, number][] = [];
  values.forEach((value, index) => {
    if (value === null) {
      if (piece.length > 0) result.push(piece);
      piece = [];
    } else piece.push([index, value]);
  });
  if (piece.length > 0) result.push(piece);
  return result;
}
