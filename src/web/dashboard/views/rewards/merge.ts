// Puts what has changed into a page of the log.

import type { RewardPage, RewardRow } from "../../types";

export const keyOf = ({ app_id, transaction_id }: RewardRow) => `${app_id} ${transaction_id}`;

/**
 * Puts what has changed into a page. Rows that it has keep the server's order, which is that of their entries: a reward that
 * was paid late has a newer time than those above it. New ones stand above the first that is not newer.
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
  // A row that is older than all in sight comes with its own page.
  const added = [...changed.values()].filter((row) => page.cursor === null || row.conversion_ts >= oldest);
  for (const row of added) {
    const below = kept.findIndex((other) => other.conversion_ts <= row.conversion_ts);
    kept.splice(below < 0 ? kept.length : below, 0, row);
  }
  return { ...page, ...changes, cursor: page.cursor, rows: kept };
}
