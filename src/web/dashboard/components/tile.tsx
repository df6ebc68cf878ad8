// One number of the overview, with its change.

import { common, overview } from "../messages";
import { Change } from "./change";
import { Skeleton } from "../../shared/components/states";

export interface TileProps {
  label: string;
  note: string;
  value: string | null;
  ratio: number | null;
  state: "ready" | "loading" | "failed";
  /** The number is there, but that of the period before failed. */
  isBeforeMissing?: boolean;
}

export function Tile({ label, note, value, ratio, state, isBeforeMissing }: TileProps) {
  return (
    <div class="tile">
      <dt>
        {label} <span class="tile-note">{note}</span>
      </dt>
      {state === "loading" ? (
        <dd>
          <Skeleton class="tile-skeleton" lines={2} />
        </dd>
      ) : state === "failed" ? (
        <dd>
          <span class="tile-value">{common.none}</span>
          <span class="tile-change failed-text">{overview.tileFailed}</span>
        </dd>
      ) : (
        <dd>
          <span class="tile-value">{value ?? common.none}</span>
          <span class="tile-change">
            {isBeforeMissing ? (
              overview.beforeFailed
            ) : (
              <>
                <Change ratio={ratio} />{" "}
                {ratio === null ? (
                  <span aria-hidden="true">{overview.nothingBefore}</span>
                ) : (
                  <span class="tile-versus">{overview.before}</span>
                )}
              </>
            )}
          </span>
        </dd>
      )}
    </div>
  );
}
