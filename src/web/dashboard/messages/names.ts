// Names for the API's own terms.

import type { Dimension, ExportFormat, Metric } from "../types";

/** In the order in which the pages show the metrics. */
export const METRIC_NAMES: Record<Metric, string> = {
  revenue: "Revenue",
  ecpm: "eCPM",
  impressions: "Impressions",
  clicks: "Clicks",
  click_rate: "Click rate",
  ad_requests: "Ad requests",
  ad_responses: "Ad responses",
  fill_rate: "Fill rate",
  show_rate: "Show rate",
};

export const METRIC_HINTS: Record<Metric, string> = {
  ad_requests: "ads asked for",
  ad_responses: "requests answered",
  impressions: "ads shown",
  clicks: "ads and offers clicked",
  revenue: "estimated, USD",
  ecpm: "per 1,000 impressions, USD",
  fill_rate: "ad responses ÷ ad requests",
  show_rate: "impressions ÷ ad responses",
  click_rate: "clicks ÷ impressions",
};

export const DIMENSION_NAMES: Record<Dimension, string> = {
  date: "Date",
  app: "App",
  country: "Country",
  placement_id: "Placement",
  ad_tag: "Ad tag",
  demand_source: "Demand source",
  sdk_v: "SDK version",
};

export const EXPORT_NAMES: Record<ExportFormat, string> = {
  csv: "CSV",
  spreadsheet_csv: "CSV for spreadsheets",
  ndjson: "NDJSON",
};

export const EXPORT_HINTS: Record<ExportFormat, string> = {
  csv: "The same cells as the reporting API returns.",
  spreadsheet_csv:
    "For Excel and Google Sheets: IDs stay text, and no text runs as a formula. In LibreOffice, tick “Evaluate formulas”.",
  ndjson: "One JSON object per line, for scripts.",
};
