// The numbers of the day under the cursor.

import { dateText, dateWithWeekday } from "../../../shared/format";
import { chart as text } from "../../messages";
import { Swatch, valueText } from "./chart";
import { type ChartData, seriesClass } from "./types";

interface Props {
  data: ChartData;
  index: number;
  x: number;
  width: number;
  kind: "line" | "bar";
}

// The box is next to the cursor, on the side that has more room.
const GAP = 12;

export function Tooltip({ data, index, x, width, kind }: Props) {
  const isLeft = x > width / 2;
  return (
    <div
      class="tooltip"
      aria-hidden="true"
      style={isLeft ? { right: `${width - x + GAP}px` } : { left: `${x + GAP}px` }}
    >
      <p class="tooltip-date">
        {dateWithWeekday(data.dates[index]!)}
        {index === data.today && <span class="tooltip-note">{text.incomplete}</span>}
      </p>
      <table>
        <tbody>
          {data.series.map((one, position) => (
            <tr key={one.id}>
              <td>
                {data.series.length > 1 && (
                  <Swatch name={seriesClass(one, position)} isBar={kind === "bar"} isBefore={one.isBefore} />
                )}
                {one.dates ? dateText(one.dates[index]!) : one.label}
              </td>
              <td class="number">{valueText(one.values[index] ?? null, data)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
