// Types of the dashboard's internal API, as the browser sees it. They follow openapi-dashboard.yaml.

import type {
  CallbackAnswer,
  CallbackEvent,
  CallbackRequest,
  Notice,
  Refusal,
  RewardDelivery,
  RewardFilter,
  RewardKind,
  RewardState,
  SignedIn,
} from "../shared/types";

export * from "../shared/types";

export type Dimension = "date" | "app" | "country" | "placement_id" | "ad_tag" | "demand_source" | "sdk_v";

export type Metric =
  | "ad_requests"
  | "ad_responses"
  | "impressions"
  | "clicks"
  | "revenue"
  | "ecpm"
  | "fill_rate"
  | "show_rate"
  | "click_rate";

/** Metrics that are 0 are absent, in rows and in totals. */
export type Totals = Partial<Record<Metric, number>>;

export interface ReportRow extends Totals {
  date?: string;
  app_id?: string;
  app?: { name: string };
  country?: string;
  placement_id?: string;
  ad_tag?: string;
  demand_source?: string;
  sdk_v?: string;
}

export interface DateRange {
  start_date: string;
  end_date: string;
}

export interface Filter {
  dimension: Dimension;
  values: string[];
}

export interface Order {
  column: Dimension | Metric;
  ascending: boolean;
}

export interface Query {
  date_range: DateRange;
  dimensions: Dimension[];
  metrics: Metric[];
  filters?: Filter[];
  order_by?: Order[];
  pagination?: { page: number; count: number };
  totals?: boolean;
}

export interface ReportResult {
  total_count: number;
  rows: ReportRow[];
  totals?: Totals;
}

export interface ReportBatch {
  data_through: string | null;
  data_version: number;
  results: (ReportResult | Refusal)[];
}

export interface TotalsPart {
  totals: Totals;
}

export interface Overview {
  member: SignedIn;
  publisher: { publisher_id: string; name: string; approved: boolean };
  accounts: { publisher_id: string; name: string; is_current: boolean }[];
  notices: Notice[];
  support_contact: string | null;
  reporting_url: string;
  today: string;
  /** The last day of which there is all data. */
  last_day: string;
  data_through: string | null;
  data_version: number;
  reports: {
    days: { rows: ReportRow[] } | Refusal;
    current: TotalsPart | Refusal;
    previous: TotalsPart | Refusal;
    ads_current: TotalsPart | Refusal;
    ads_previous: TotalsPart | Refusal;
    today: TotalsPart | Refusal;
  };
}

export interface Suggestion {
  value: string;
  label?: string;
}

export type ExportFormat = "csv" | "spreadsheet_csv" | "ndjson";

export interface ExportMade {
  export_id: string;
  rows: number;
}

export interface PubKey {
  pub_key: string | null;
}

export interface PubKeyRequested {
  request: { requested_at: number; requested_by: string; reason: string } | null;
}

export type Platform = "ios" | "android" | "web";
export type Rounding = "down" | "up" | "nearest";

export interface Currency {
  name: string;
  /** Units for 1 USD, with at most 6 decimals. */
  per_usd: number;
  decimals: number;
  rounding?: Rounding;
}

export interface ListedApp {
  app_id: string;
  name: string;
  platform: Platform;
  currency: Currency;
  callback_host: string | null;
  signs_clicks: boolean;
  blocked_offers: number;
}

export interface AppPage {
  apps: ListedApp[];
  cursor: string | null;
}

export interface NewApp {
  name: string;
  platform: Platform;
  currency: Currency;
}

export interface CallbackDraft {
  url: string;
  method: "GET" | "POST";
  events: CallbackEvent[];
}

export interface Callback extends CallbackDraft {
  /** The secret before the present one signs, too. */
  has_previous_secret: boolean;
}

export interface App {
  app_id: string;
  name: string;
  platform: Platform;
  currency: Currency;
  callback: Callback | null;
  fallback_url: string | null;
  blocked_offers: string[];
  signs_clicks: boolean;
  has_previous_click_secret: boolean;
  revision: number;
}

export interface AppChange {
  name?: string;
  currency?: Currency;
  callback?: CallbackDraft | null;
  fallback_url?: string | null;
  blocked_offers?: string[];
}

export interface ChangedApp extends App {
  /** Once, of a callback where there was none. */
  callback_secret?: string;
}

export interface NewSecret {
  secret: string;
}

export type SignWith = "both" | "current" | "wrong";

export interface Finding {
  code: string;
  severity: "problem" | "advice" | "ok";
  subject: string | null;
}

export interface CallbackPreview {
  request: CallbackRequest;
  findings: Finding[];
}

export interface CallbackTest extends CallbackPreview {
  response: CallbackAnswer | null;
  error: { code: string } | null;
}

export interface RewardRow {
  app_id: string;
  transaction_id: string;
  kind: RewardKind;
  original_transaction_id?: string | null;
  state: RewardState;
  /** Why it is held or was refused. */
  code?: string | null;
  delivery: RewardDelivery | null;
  http_status: number | null;
  /** Not for analysts; null once the user is erased. */
  user_id?: string | null;
  offer_id: string;
  goal_id: string;
  /** Decimal numbers, in the app's currency and in USD. */
  value: string | number;
  payout: string | number;
  currency: string;
  click_ts: number;
  conversion_ts: number;
  attempts?: number;
}

export interface RewardPage {
  /** For how long a change may be missing here. */
  behind_ms: number;
  rows: RewardRow[];
  /** Of what changed, the transaction ids that do not match the filter any more. */
  unmatched?: string[];
  cursor: string | null;
  newest: string;
  has_more_changes?: boolean;
}

export interface RewardQuery {
  app_id?: string;
  filter: RewardFilter;
  limit?: number;
  cursor?: string;
  after?: string;
}

export interface RewardCounts {
  approved: number;
  pending: number;
  held: number;
  rejected: number;
  reversed: number;
  refused: number;
  approved_micro_usd: number;
  /** Negative. */
  reversed_micro_usd: number;
}

export interface EndpointHealth {
  state: "none" | "healthy" | "failing" | "disabled";
  /** When it was disabled. */
  since: number | null;
  waiting: number;
  dead: number;
}

/** When something happened first, in UNIX seconds. Nobody counts lists of offers, so that is told by a click. */
export type Firsts = Record<"list" | "click" | "conversion" | "callback" | "report", number | null>;

export interface Activity {
  behind_ms: number;
  /** The last 60 days, only those on which something happened. */
  days: (RewardCounts & { date: string })[];
  /** The apps that have had a conversion. */
  apps: (RewardCounts & { app_id: string; endpoint: EndpointHealth })[];
  first: Firsts;
}

export interface OfferQuery {
  country?: string;
  platform?: Platform;
  cursor?: string;
}

export interface Amount {
  cur: string;
  amt: number;
}

interface OfferGoal {
  id: string;
  ttl: string;
  pyt: Amount;
  inapp_pyt: Amount;
}

/** What is left of a cap until 00:00 UTC. */
interface CapLeft {
  lim: number;
}

/** An offer as apps get it from the offer API (openapi.yaml). */
export interface AppOffer {
  id: string;
  name: string;
  /** USD, and the same in the app's currency. */
  pyt: Amount;
  inapp_pyt: Amount;
  gls: OfferGoal[];
  conversion_cap?: CapLeft;
  click_cap?: CapLeft;
  /** Of all apps in the last 30 days: conversions and USD for each click. Absent without clicks. */
  metrics?: { cr: number; epc: number }[];
}

export interface OfferPage {
  offers: AppOffer[];
  total: number;
  cursor: string | null;
  built_at: number;
}

export interface TrackingUrl {
  url: string;
  /** When a signed one ends. */
  expires_at: number | null;
}

export interface TrackingParameters {
  offer_id: string;
  user_id: string;
  c1?: string;
  c2?: string;
  c3?: string;
  c4?: string;
  c5?: string;
  gaid?: string;
  idfa?: string;
  placement?: string;
}
