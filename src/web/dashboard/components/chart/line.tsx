// Lines of a chart. The segment that leads to today is dashed, because today is not complete.

import { pieces } from "./scale";
import { type ChartData, type Geometry, seriesClass } from "./types";

export function Lines({ data, geometry: { x, y } }: { data: ChartData; geometry: Geometry }) {
  const point = ([index, value]: [number, number]) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`;
  // The first series is drawn last, above the others.
  const order = data.series.map((series, index) => ({ series, name: seriesClass(series, index) })).reverse();
  return (
    <g class="lines">
      {order.map(({ series, name }) => {
        const isOpen = data.today !== null && !series.isBefore;
        return (
          <g key={series.id} class={name}>
            {pieces(series.values).map((piece) => {
              const last = piece[piece.length - 1]!;
              const endsToday = isOpen && last[0] === data.today;
              const complete = endsToday ? piece.slice(0, -1) : piece;
              const open = endsToday ? piece.slice(-2) : [];
              return (
                <g key={piece[0]![0]}>
                  {complete.length > 1 && <polyline points={complete.map(point).join(" ")} />}
                  {complete.length === 1 && (
                    <circle class="dot" cx={x(complete[0]![0])} cy={y(complete[0]![1])} r="2.5" />
                  )}
                  {open.length > 1 && <polyline class="open" points={open.map(point).join(" ")} />}
                  {endsToday && <circle class="dot hollow" cx={x(last[0])} cy={y(last[1])} r="3" />}
                </g>
              );
            })}
          </g>
        );
      })}
    </g>
  );
}
