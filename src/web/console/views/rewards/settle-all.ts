// Settles all rewards that match, part by part, because one call settles only as many as fit into a request.

import type { SettledMany, SettlementOfMany } from "../../../shared/generated/openapi";
import { post } from "../../api";
import type { Settling } from "../../messages/rewards";

/** Adds up the figures of two parts. `until` comes from the first, so that no later reward is included. */
function sum(one: SettledMany, other: SettledMany): SettledMany {
  const refused = { ...one.refused };
  for (const [code, count] of Object.entries(other.refused ?? {})) refused[code] = (refused[code] ?? 0) + count;
  return {
    count: one.count + other.count,
    payout: one.payout + other.payout,
    until: one.until,
    settled: (one.settled ?? 0) + (other.settled ?? 0),
    settled_payout: (one.settled_payout ?? 0) + (other.settled_payout ?? 0),
    refused,
    next: other.next,
  };
}

/** Calls `onPart` with the figures so far. No more parts are requested once `isOver` returns true. */
export async function settleAll(
  appId: string,
  action: Settling,
  settlement: SettlementOfMany,
  { onPart, isOver }: { onPart: (soFar: SettledMany) => void; isOver: () => boolean },
): Promise<SettledMany> {
  const ask = (question: SettlementOfMany) => post(`/apps/{app_id}/conversions/${action}`, { app_id: appId }, question);
  let all = await ask(settlement);
  const filter = { ...settlement.filter, until: all.until };
  while (all.next !== null && !isOver()) {
    onPart(all);
    all = sum(all, await ask({ ...settlement, filter, after: all.next }));
  }
  return all;
}
