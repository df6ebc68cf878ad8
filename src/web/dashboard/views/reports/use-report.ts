// Answers of the reports view, put together from its two batches.

import { reports } from "../../api";
import { type CachedView, useCached } from "../../../shared/cache";
import { isRefusal, type Refusal, type ReportBatch, type ReportResult } from "../../types";
import { type Batch, FIRST_PARTS, type FirstBatch, firstBatch, SECOND_PARTS, secondBatch } from "./queries";
import type { Days } from "./periods";
import type { ReportState } from "./state";

export type Part = ReportResult | Refusal | null;

type Parts<Name extends string> = Record<Name, Part>;

export interface Report extends Parts<(typeof FIRST_PARTS)[number] | (typeof SECOND_PARTS)[number]> {
  first: FirstBatch;
  cached: CachedView<ReportBatch>;
  isWaiting: boolean;
  /** Requests both batches again. */
  reload: () => void;
}

const result = (part: Part): ReportResult | null => (part && !isRefusal(part) ? part : null);

/** Requests a batch, and names its answers. A part without a query or without an answer is null. */
function useBatch<Name extends string>(names: readonly Name[], batch: Batch<Name> | null) {
  const asked = names.filter((name) => batch?.[name]);
  const queries = asked.map((name) => batch![name]!);
  const key = queries.length > 0 ? `report ${JSON.stringify(queries)}` : null;
  const cached = useCached(key, () => reports(queries));
  const { data, error } = cached;
  const failed = error && !data ? { error: error.message, code: error.code } : null;
  const partOf = (name: Name): Part => data?.results[asked.indexOf(name)] ?? (asked.includes(name) ? failed : null);
  return { cached, parts: Object.fromEntries(names.map((name) => [name, partOf(name)])) as Parts<Name> };
}

/** The report of a state. Nothing is requested before `isReady`. */
export function useReport(state: ReportState, days: Days, isReady: boolean): Report {
  const first = firstBatch(state, days);
  const { cached, parts } = useBatch(FIRST_PARTS, isReady ? first.queries : null);
  const second = cached.data ? secondBatch(state, days, first, result(parts.table), result(parts.chart)) : null;
  const more = useBatch(SECOND_PARTS, second);
  return {
    first,
    cached,
    ...parts,
    ...more.parts,
    isWaiting: cached.isLoading || more.cached.isLoading,
    reload: () => {
      void cached.reload();
      void more.cached.reload();
    },
  };
}
