// Answers of the reports view, put together from its two batches.

import { api } from "../../api";
import { type CachedView, useCached } from "../../../shared/cache";
import { isRefusal, type Refusal, type ReportBatch, type ReportResult } from "../../types";
import { type FirstBatch, firstBatch, type SecondBatch, secondBatch } from "./queries";
import type { Days } from "./periods";
import type { ReportState } from "./state";

export type Part = ReportResult | Refusal | null;

type FirstPart = keyof Omit<FirstBatch, "queries" | "compared">;
type SecondPart = keyof Omit<SecondBatch, "queries">;

export interface Report extends Record<FirstPart | SecondPart, Part> {
  first: FirstBatch;
  cached: CachedView<ReportBatch>;
  isWaiting: boolean;
  /** Requests both batches again. */
  reload: () => void;
}

const result = (part: Part): ReportResult | null => (part && !isRefusal(part) ? part : null);

/** The report of a state. Nothing is requested before `isReady`. */
export function useReport(state: ReportState, days: Days, isReady: boolean): Report {
  const first = firstBatch(state, days);
  const cached = useCached(isReady ? `report ${JSON.stringify(first.queries)}` : null, () =>
    api.reports(first.queries),
  );
  const part = (index: number): Part => (index < 0 ? null : (cached.data?.results[index] ?? null));
  const table = part(first.table);
  const chart = part(first.chart);
  const second = cached.data ? secondBatch(state, days, first, result(table), result(chart)) : null;
  const more = useCached(second ? `report ${JSON.stringify(second.queries)}` : null, () =>
    api.reports(second!.queries),
  );
  const further = (name: SecondPart): Part => {
    const index = second ? second[name] : -1;
    if (index < 0) return null;
    if (more.error && !more.data) return { error: more.error.message, code: more.error.code };
    return more.data?.results[index] ?? null;
  };
  return {
    first,
    cached,
    table,
    chart,
    chartBefore: part(first.chartBefore),
    totalsNow: part(first.totalsNow),
    totalsBefore: part(first.totalsBefore),
    lines: further("lines"),
    barsNow: further("barsNow"),
    barsBefore: further("barsBefore"),
    rowsBefore: further("rowsBefore"),
    rowsNow: further("rowsNow"),
    isWaiting: cached.isLoading || more.isLoading,
    reload: () => {
      void cached.reload();
      void more.reload();
    },
  };
}
