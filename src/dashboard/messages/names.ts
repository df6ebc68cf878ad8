// Names of what the API knows by a word of its own.

import type { Section } from "../router";
import type { Dimension, ExportFormat, Metric, Role } from "../types";

export const METRIC_NAMES: Record<Metric, string> = {
  ad_requests: "Ad requests",
  ad_responses: "Ad responses",
  impressions: "Impressions",
  clicks: "Clicks",
  revenue: "Revenue",
  ecpm: "eCPM",
  fill_rate: "Fill rate",
  show_rate: "Show rate",
  click_rate: "Click rate",
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

export const ROLE_NAMES: Record<Role, string> = { owner: "Owner", developer: "Developer", analyst: "Analyst" };

export const ROLE_HINTS: Record<Role, string> = {
  owner: "everything, including members",
  developer: "reports, rewards, apps, keys and settings, no members",
  analyst: "reports, and rewards without their users",
};

export const SECTION_NAMES: Record<Section, string> = {
  keys: "Report keys",
  pub_key: "Pub-Key",
  members: "Members",
  passkeys: "Your passkeys",
  sessions: "Your sessions",
  audit: "Audit log",
};

export const EXPORT_NAMES: Record<ExportFormat, string> = {
  csv: "CSV",
  spreadsheet_csv: "CSV for spreadsheets",
  ndjson: "NDJSON",
};

export const EXPORT_HINTS: Record<ExportFormat, string> = {
  csv: "The same cells as the reporting API returns.",
  spreadsheet_csv: "Text that Excel or Sheets would run as a formula has an apostrophe before it.",
  ndjson: "One JSON object per line, for scripts.",
};
