// Countries for a filter, by name: the server knows only their codes.

import { ApiError } from "../../../shared/client";
import { reports } from "../../api";
import { countryName } from "../../../shared/format";
import { type DateRange, isRefusal, type Suggestion } from "../../types";

// Maximum suggestions. The server has the same maximum for other dimensions.
const MOST = 20;

// There are 249 codes, so one page has all countries of the data.
const ALL = { page: 1, count: 1000 };

/** Countries of the data whose name or code contains the text, those with the most impressions first. */
export async function countriesNamed(text: string, date_range: DateRange): Promise<Suggestion[]> {
  const batch = await reports([
    {
      date_range,
      dimensions: ["country"],
      metrics: ["impressions"],
      order_by: [{ column: "impressions", ascending: false }],
      pagination: ALL,
    },
  ]);
  const result = batch.results[0]!;
  if (isRefusal(result)) throw new ApiError(200, result.code, result.error, null, null);
  const wanted = text.toLowerCase();
  return result.rows
    .map((row) => row.country ?? "")
    .filter((code) => [code, countryName(code)].some((name) => name.toLowerCase().includes(wanted)))
    .slice(0, MOST)
    .map((value) => ({ value }));
}
