// The largest values of a dimension, each with a bar. It is a table, so it needs no second form for a screen reader.

import type { ComponentChildren } from "preact";
import { table } from "../../messages";
import { Change } from "../change";

export interface Ranked {
  id: string;
  label: ComponentChildren;
  value: number;
  valueText: string;
  before?: number;
  beforeText?: string;
  ratio?: number | null;
}

interface Props {
  name: string;
  dimension: string;
  metric: string;
  rows: Ranked[];
  hasBefore?: boolean;
}

export function Ranking({ name, dimension, metric, rows, hasBefore }: Props) {
  const largest = Math.max(0, ...rows.flatMap((row) => [row.value, row.before ?? 0])) || 1;
  const part = (value: number) => `${((value / largest) * 100).toFixed(2)}%`;
  return (
    <table class="ranking" aria-label={name}>
      <thead>
        <tr>
          <th scope="col">{dimension}</th>
          <th scope="col" class="number">
            {metric}
          </th>
          {hasBefore && (
            <th scope="col" class="number">
              {table.change}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row">
              <span class="ranking-label">{row.label}</span>
              <svg class="ranking-bar" width="100%" height="6" aria-hidden="true" focusable="false">
                <rect class="track" width="100%" height="6" rx="2" />
                <rect class="fill" width={part(row.value)} height="6" rx="2" />
                {hasBefore && row.before !== undefined && (
                  <rect class="before-mark" x={part(row.before)} y="0" width="2" height="6" />
                )}
              </svg>
            </th>
            <td class="number">
              {row.valueText}
              {hasBefore && row.beforeText && <span class="cell-before">{row.beforeText}</span>}
            </td>
            {hasBefore && (
              <td class="number">
                <Change ratio={row.ratio ?? null} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
