// The figures of the overview. Its answer contains the figures of the last 30 complete days. The figures of another
// period are requested.

import { reports } from "../../api";
import { type CachedView, useCached } from "../../../shared/cache";
import { type DateRange, isRefusal, type Overview, type Query } from "../../types";
import { type Comparison, comparison, type Days, type Preset } from "../reports/periods";
import { resolveRange } from "../reports/state";

type Reports = Overview["reports"];

export interface Figures {
  /** The days that are shown: the complete days of the period, or the whole period if it has no complete day. */
  range: DateRange;
  /** Null if the period has no complete day. */
  compared: Comparison | null;
  reports: Reports;
}

export const DEFAULT_PERIOD: Preset = "last_30";

/** The figures are null while they load, or if they failed. */
export function useFigures(
  overview: CachedView<Overview>,
  period: Preset | DateRange,
  days: Days,
): { figures: Figures | null; asked: CachedView<unknown> } {
  const chosen = resolveRange(period, days);
  const compared = comparison(chosen, days);
  const range = compared?.now ?? chosen;
  const isOwn = period !== DEFAULT_PERIOD && overview.data !== undefined;
  const key = isOwn ? `figures ${range.start_date} ${range.end_date} ${compared?.days}` : null;
  const asked = useCached(key, () => load(overview.data!, range, compared));
  const reports = isOwn ? asked.data : overview.data?.reports;
  return { figures: reports ? { range, compared, reports } : null, asked: isOwn ? asked : overview };
}

// The queries of the overview's own answer. That answer has both periods in one query for the chart. Here each period
// needs its own query, because a report has at most 91 days.
const ALL = { metrics: ["revenue", "clicks"], totals: true } as const;
const ADS = { metrics: ["revenue", "impressions", "ecpm"], totals: true, without_offerwall: true } as const;
const DAYS = { metrics: ["revenue", "clicks", "impressions"] } as const;

const NOTHING: Reports["current"] = { total_count: 0, rows: [], totals: {} };

async function load({ reports: { today } }: Overview, range: DateRange, compared: Comparison | null): Promise<Reports> {
  const query = (date_range: DateRange) =>
    [ALL, ADS, DAYS].map((of): Query => ({ ...of, metrics: [...of.metrics], date_range, dimensions: ["date"] }));
  const { results } = await reports([...query(range), ...(compared ? query(compared.before) : [])]);
  const [current, ads_current, days, previous = NOTHING, ads_previous = NOTHING, before = NOTHING] =
    results as Reports["current"][];
  const rowsBefore = isRefusal(before!) ? [] : before!.rows;
  return {
    today,
    current: current!,
    previous,
    ads_current: ads_current!,
    ads_previous,
    days: isRefusal(days!) ? days : { ...days!, rows: [...rowsBefore, ...days!.rows] },
  };
}
