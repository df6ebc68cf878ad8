// Offers, as the operator's API has them.

export const OFFER_TYPES = ["CPE", "CPI", "CPA", "CPR", "CPL", "CPC", "APK_INSTALL", "APK_REGISTER"] as const;
export const CATEGORIES = ["SINGLE_STEP", "MULTI_REWARD", "DEPOSIT", "GAMING", "FINANCE", "SURVEY", "NEW"] as const;
export const PLATFORMS = ["android", "ios", "web"] as const;

export type OfferType = (typeof OFFER_TYPES)[number];
export type Category = (typeof CATEGORIES)[number];
export type Platform = (typeof PLATFORMS)[number];
export type OncePer = "user" | "click";

export interface Goal {
  id: string;
  ttl: string;
  instr: string;
  payout_usd: number;
  ord: number;
  gl_val?: string | null;
}

export interface Cap {
  dur: "DAILY";
  lim: number;
}

export interface Offer {
  advertiser_id: string;
  off_type: OfferType;
  s_id: string;
  name: string;
  lp_url: string;
  target_url?: string | null;
  click_id_max?: number | null;
  ic_url: string;
  desc: string;
  ctg: Category[];
  os: Platform;
  geo_tgt: { include?: string[]; exclude?: string[] };
  goals: Goal[];
  conversion_cap?: Cap | null;
  click_cap?: Cap | null;
  starts_at?: number | null;
  ends_at?: number | null;
  conversion_window_days?: number | null;
  once_per?: OncePer | null;
  min_seconds_to_convert?: number | null;
  terms_since?: number | null;
  active: boolean;
}

export interface KeptOffer extends Offer {
  offer_id: string;
  terms_revision: number;
  updated_at: number;
  retired_goals?: string[];
}

export interface OfferPage {
  offers: KeptOffer[];
  cursor: string | null;
}

export interface UsedCap extends Cap {
  used: number;
}

/** Of the last 30 days in UTC, and the use of today's caps. */
export interface Figures {
  clicks: number;
  conversions: number;
  payout_usd: number;
  caps: { click: UsedCap | null; conversion: UsedCap | null };
}

export interface FiguresOfMany {
  figures: Record<string, Figures>;
  /** None before the first time. */
  as_of: number | null;
}

export interface NearCap extends UsedCap {
  offer_id: string;
  name: string | null;
  kind: "click" | "conversion";
}

export interface NearCaps {
  caps: NearCap[];
  as_of: number | null;
}

export interface Terms {
  advertiser_id: string;
  conversion_window_days: number;
  once_per: OncePer;
  /** In their order. */
  goals: { id: string; payout_usd: number; gl_val: string | null }[];
}

export interface Revision {
  /** Its number, which is about the second in which it came into force. */
  revision: number;
  superseded_at: number | null;
  terms: Terms;
}

/** The newest first. */
export interface TermsHistory {
  current: number;
  terms_since: number | null;
  revisions: Revision[];
}

interface Amount {
  amt: number;
  cur: string;
}

/** What the API of offers gives, as far as the preview reads it. */
export interface ListedOffer {
  id: string;
  name: string;
  desc: { raw: string };
  pyt: Amount;
  inapp_pyt: Amount;
  gls: { id: string; ttl: string; instr: string; pyt: Amount; inapp_pyt: Amount }[];
}

export interface Preview {
  offer: ListedOffer;
  redirect_url: string;
}
