// One number of the overview, with its change.

import { common, overview } from "../messages";
import { Change } from "./change";
import { Tile } from "../../shared/components/tile";

export interface TileProps {
  label: string;
  note: string;
  value: string | null;
  ratio: number | null;
  state: "ready" | "loading" | "failed";
  /** Weeks between this number and the one that it is compared with. */
  weeks?: number;
  /** True if this number has loaded, but the number of the period before failed. */
  isBeforeMissing?: boolean;
}

export function ComparedTile({ label, note, value, ratio, state, weeks = 0, isBeforeMissing }: TileProps) {
  const named = { label, note };
  if (state === "loading") return <Tile {...named} value={undefined} />;
  if (state === "failed") {
    return <Tile {...named} value={common.none} below={overview.tileFailed} belowClass="failed-text" />;
  }
  const versus =
    ratio === null ? (
      <span aria-hidden="true">{overview.nothingBefore}</span>
    ) : (
      <span class="tile-versus">{overview.before(weeks)}</span>
    );
  const below = isBeforeMissing ? (
    overview.beforeFailed
  ) : (
    <>
      <Change ratio={ratio} /> {versus}
    </>
  );
  return <Tile {...named} value={value ?? common.none} below={below} />;
}
