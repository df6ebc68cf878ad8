// A client in TypeScript with the types that openapi-typescript makes from `openapi.yaml`. tools.test.mjs compiles it under
// `tsc --strict` and runs it against Signpost. Each `@ts-expect-error` stands above a mistake that the types must find.

import createClient from "openapi-fetch";
import type { components, paths } from "./generated/openapi.js";

type Schemas = components["schemas"];
type OffersFilter = Schemas["OffersFilter"];

// One filter of each dimension.
const filters: OffersFilter[] = [
  { dim: "offer_type", match: { type: "any", value: ["CPI", "CPE"] } },
  { dim: "platform", match: { type: "exact", value: ["ios"] } },
  { dim: "country", match: { type: "any", value: ["DE"] } },
  { dim: "offer_id", match: { type: "any", values: ["60702", "23990"] } },
];

// @ts-expect-error `region` is no dimension.
const wrongDim: OffersFilter = { dim: "region", match: { type: "any", value: ["DE"] } };

// @ts-expect-error `symbian` is no platform.
const wrongPlatform: OffersFilter = { dim: "platform", match: { type: "any", value: ["symbian"] } };

// @ts-expect-error A country is no offer type.
const wrongValue: OffersFilter = { dim: "offer_type", match: { type: "any", value: ["DE"] } };

// @ts-expect-error A match is `any` or `exact`.
const wrongMatch: OffersFilter = { dim: "country", match: { type: "none", value: ["DE"] } };

const query: Schemas["ReportQuery"] = {
  date_range: { start_date: "2026-11-01", end_date: "2026-11-07" },
  dimensions: ["app"],
  metrics: ["impressions", "revenue", "ecpm"],
  filters: [{ dimension: "country", values: ["DE", "AT"] }],
  order_by: [{ column: "revenue", ascending: false }],
};

const wrongQuery: Schemas["ReportQuery"] = {
  date_range: { start_date: "2026-11-01", end_date: "2026-11-07" },
  dimensions: ["app"],
  // @ts-expect-error `installs` is no metric.
  metrics: ["installs"],
};

const app: Schemas["App"] = {
  publisher_id: "lumen-arcade",
  name: "Lumen Arcade for Android",
  platform: "android",
  currency: { name: "Coins", per_usd: 1000, decimals: 0, rounding: "down" },
  callback: {
    url: "https://play.lumen-arcade.example/callback",
    method: "POST",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    events: ["approved", "reversed"],
  },
};

/** The reward that a callback asks to pay, in the app's currency. */
export function rewardOf(event: Schemas["CallbackEvent"]): number {
  switch (event.status) {
    case "approved":
    case "reversed":
      return event.value;
    case "pending":
    case "rejected":
      return event.pending_value * 0;
  }
}

export { wrongDim, wrongMatch, wrongPlatform, wrongQuery, wrongValue };

export interface Setup {
  base: string;
  app: string;
  rewardedApp: string;
  newApp: string;
  pubKey: string;
  reportKey: string;
  operatorToken: string;
}

/** Lists offers with each filter, asks for two reports, creates an app and reads the conversion log page by page. */
export async function run(setup: Setup) {
  const offers = createClient<paths>({
    baseUrl: setup.base,
    headers: { "App-Id": setup.app, "Pub-Key": setup.pubKey },
  });
  const totals: number[] = [];
  for (const filter of filters) {
    const { data, error } = await offers.POST("/v1/offer/api", { body: { page: 1, size: 100, filt: [filter] } });
    if (error) throw new Error(`${error.code}: ${error.error}`);
    // GET has the filters as the text of a JSON document.
    const got = await offers.GET("/v1/offer/api", {
      params: { query: { page: 1, size: 100, filt: JSON.stringify([filter]) } },
    });
    if (got.data?.total !== data.total) throw new Error(`GET lists ${got.data?.total} of ${data.total} offers`);
    totals.push(data.total);
  }

  const reporting = createClient<paths>({ baseUrl: setup.base, headers: { "X-Api-Key": setup.reportKey } });
  const report = async (body: Schemas["ReportQuery"]) => {
    for (;;) {
      const { data, response } = await reporting.POST("/v1/core/reporting/public/signal/report/generate", {
        params: { header: { Accept: "application/json" } },
        body,
      });
      if (response.status !== 429) return { data, status: response.status };
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("Retry-After"))));
    }
  };
  const found = await report(query);
  // CSV and NDJSON are texts.
  const rows = found.data === undefined || typeof found.data === "string" ? [] : found.data.rows;
  const empty = await report({ ...query, date_range: { start_date: "2020-01-01", end_date: "2020-01-07" } });

  const operator = createClient<paths>({
    baseUrl: setup.base,
    headers: { Authorization: `Bearer ${setup.operatorToken}` },
  });
  const created = await operator.PUT("/v1/operator/apps/{app_id}", {
    params: { path: { app_id: setup.newApp }, header: { "If-None-Match": "*" } },
    body: app,
  });
  if (created.error) throw new Error(`${created.error.code}: ${created.error.error}`);

  const transactions: string[] = [];
  let pages = 0;
  let cursor: string | undefined;
  do {
    const { data, error } = await operator.GET("/v1/operator/apps/{app_id}/conversions", {
      params: { path: { app_id: setup.rewardedApp }, query: { limit: 2, cursor } },
    });
    if (error) throw new Error(`${error.code}: ${error.error}`);
    transactions.push(...data.conversions.map((conversion) => conversion.transaction_id));
    cursor = data.cursor ?? undefined;
    pages += 1;
  } while (cursor);
  return {
    totals,
    statuses: [found.status, empty.status],
    revenue: rows.map((row) => row.revenue ?? 0),
    created: created.data.app_id,
    transactions,
    pages,
  };
}
