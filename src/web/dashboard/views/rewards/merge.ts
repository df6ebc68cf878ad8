// Puts changed rows into a page of the log.

import type { RewardPage, RewardRow } from "../../types";

export const keyOf = ({ app_id, transaction_id }: RewardRow) => `${app_id} ${transaction_id}`;

/**
 * Puts changed rows into a page. The page's own rows keep the server's order, which is the order of log entries. So a
 * row can have a later conversion time than the rows above it, for example if the reward was paid late. A new row goes
 * above the first row that is not newer.
 */
export function merge(page: RewardPage, changes: RewardPage): RewardPage {
  const gone = new Set(changes.unmatched ?? []);
  const changed = new Map(changes.rows.map((row) => [keyOf(row), row]));
  const kept = page.rows
    .filter((row) => !gone.has(row.transaction_id))
    .map((row) => {
      const newer = changed.get(keyOf(row));
      changed.delete(keyOf(row));
      return newer ?? row;
    });
  const oldest = page.rows.at(-1)?.conversion_ts ?? 0;
  // A row that is older than all rows of this page comes with its own page.
  const added = [...changed.values()].filter((row) => page.cursor === null || row.conversion_ts >= oldest);
  for (const row of added) {
    const below = kept.findIndex((other) => other.conversion_ts <= row.conversion_ts);
    kept.splice(below < 0 ? kept.length : below, 0, row);
  }
  return { ...page, ...changes, cursor: page.cursor, rows: kept };
}
