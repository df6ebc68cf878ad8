// A change against the period before: sign, arrow and colour say the same.

import { common, overview } from "../messages";
import { percent } from "../../shared/format";

/** `ratio` is `null` if there is nothing to compare with, and `unknown` if there may be something. */
export function Change({ ratio }: { ratio: number | null | "unknown" }) {
  if (ratio === null || ratio === "unknown") {
    return (
      <span class="change none">
        <span aria-hidden="true">{common.none}</span>
        <span class="visually-hidden">{ratio === null ? overview.nothingBefore : overview.notCompared}</span>
      </span>
    );
  }
  const rounded = Math.round(ratio * 1000);
  const name = rounded > 0 ? "up" : rounded < 0 ? "down" : "same";
  return (
    <span class={`change ${name}`}>
      <span aria-hidden="true">
        {name === "up" ? "▲ " : name === "down" ? "▼ " : ""}
        {percent(Math.abs(rounded / 1000))}
      </span>
      <span class="visually-hidden">{overview.changed(rounded / 1000)}</span>
    </span>
  );
}
