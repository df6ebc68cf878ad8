// Bars of a chart, one for each day. Today's bar is dashed and hollow; the period before is a mark across the bar.

import type { ChartData, Geometry } from "./types";

// A bar fills this part of its day's width, up to `WIDEST`, so that it never looks like a block.
const FILLED = 0.68;
const WIDEST = 36;

export function Bars({ data, geometry: { x, y, slot, bottom } }: { data: ChartData; geometry: Geometry }) {
  const width = Math.max(1, Math.min(WIDEST, slot * FILLED));
  const now = data.series.find((series) => !series.isBefore);
  const before = data.series.find((series) => series.isBefore);
  const mark = Math.min(slot, width + 4);
  return (
    <g class="bars">
      <g class="series-0">
        {now?.values.map(
          (value, index) =>
            value !== null &&
            value > 0 && (
              <rect
                key={index}
                class={index === data.today ? "hollow" : undefined}
                x={x(index) - width / 2}
                y={Math.min(y(value), bottom - 1)}
                width={width}
                height={Math.max(1, bottom - y(value))}
                rx={Math.min(2, width / 4)}
              />
            ),
        )}
      </g>
      <g class="series-before">
        {before?.values.map(
          (value, index) =>
            value !== null && (
              <line key={index} x1={x(index) - mark / 2} x2={x(index) + mark / 2} y1={y(value)} y2={y(value)} />
            ),
        )}
      </g>
    </g>
  );
}
