// An offer as it is typed: the texts of its fields, their problems, and the document that they make.

import { readTime, timeText, typedTime } from "../../../shared/format";
import { micros, MICROS } from "../../../shared/micros";
import { COUNTRIES } from "../../../shared/countries";
import type { Platform } from "../../../shared/types";
import { unique } from "../../../shared/unique";
import { isId } from "../../ids";
import { editor as text } from "../../messages/offer-editor";
import type { Category, Country, Goal, KeptOffer, Offer, OfferType, OncePer } from "../../types/offers";

const MAX_PAYOUT = 1_000_000n * MICROS;
const MAX_CAP = 1_000_000_000;
const MAX_ORDER = 4_294_967_295;

export interface GoalDraft {
  id: string;
  ttl: string;
  instr: string;
  payout_usd: string;
  ord: string;
  gl_val: string;
}

/** The fields that are typed as text, all empty. */
const NO_TEXTS = {
  advertiser_id: "",
  s_id: "",
  name: "",
  lp_url: "",
  target_url: "",
  click_id_max: "",
  ic_url: "",
  desc: "",
  include: "",
  exclude: "",
  conversion_cap: "",
  click_cap: "",
  starts_at: "",
  ends_at: "",
  conversion_window_days: "",
  min_seconds_to_convert: "",
  terms_since: "",
};

export type TextName = keyof typeof NO_TEXTS;

export interface OfferDraft extends Record<TextName, string> {
  off_type: OfferType;
  ctg: Category[];
  os: Platform;
  goals: GoalDraft[];
  once_per: OncePer | "";
  active: boolean;
}

const optional = (value: number | null | undefined) => (value == null ? "" : String(value));

const timeField = (at: number | null | undefined) => (at == null ? "" : typedTime(at));

/** The payout as text, without the exponent that JavaScript writes for small numbers. */
export const payoutText = (usd: number) => usd.toFixed(6).replace(/\.?0+$/, "");

const goalDraft = (goal: Goal): GoalDraft => ({
  id: goal.id,
  ttl: goal.ttl,
  instr: goal.instr,
  payout_usd: payoutText(goal.payout_usd),
  ord: String(goal.ord),
  gl_val: goal.gl_val ?? "",
});

export const draftOf = (offer: Offer): OfferDraft => ({
  advertiser_id: offer.advertiser_id,
  off_type: offer.off_type,
  s_id: offer.s_id,
  name: offer.name,
  lp_url: offer.lp_url,
  target_url: offer.target_url ?? "",
  click_id_max: optional(offer.click_id_max),
  ic_url: offer.ic_url,
  desc: offer.desc,
  ctg: offer.ctg,
  os: offer.os,
  include: (offer.geo_tgt.include ?? []).join(", "),
  exclude: (offer.geo_tgt.exclude ?? []).join(", "),
  goals: offer.goals.map(goalDraft),
  conversion_cap: optional(offer.conversion_cap?.lim),
  click_cap: optional(offer.click_cap?.lim),
  starts_at: timeField(offer.starts_at),
  ends_at: timeField(offer.ends_at),
  conversion_window_days: optional(offer.conversion_window_days),
  once_per: offer.once_per ?? "",
  min_seconds_to_convert: optional(offer.min_seconds_to_convert),
  terms_since: timeField(offer.terms_since),
  active: offer.active,
});

export function emptyGoal(goals: GoalDraft[]): GoalDraft {
  const last = Math.max(0, ...goals.map(({ ord }) => Number(ord) || 0));
  return { id: "", ttl: "", instr: "", payout_usd: "", ord: String(last + 1), gl_val: "" };
}

export const NEW_OFFER: OfferDraft = {
  ...NO_TEXTS,
  off_type: "CPE",
  ctg: [],
  os: "android",
  goals: [emptyGoal([])],
  once_per: "",
  active: true,
};

/** The draft with its goals keyed by ID. A goal with no ID, or with an earlier goal's ID, is keyed by its index. */
export const treeOf = ({ goals, ...draft }: OfferDraft) => ({
  ...draft,
  goals: Object.fromEntries(
    goals.map((goal, at) => {
      const isNamed = goal.id && goals.findIndex(({ id }) => id === goal.id) === at;
      return [isNamed ? `goal ${goal.id}` : `new ${at}`, goal];
    }),
  ),
});

export const ofTree = ({ goals, ...draft }: ReturnType<typeof treeOf>): OfferDraft => ({
  ...draft,
  goals: Object.values(goals).filter(Boolean),
});

/** Codes that were typed or pasted, separated by commas, semicolons, spaces or line breaks. */
export const codesOf = (typed: string) => unique(typed.toUpperCase().split(/[\s,;]+/));

/** The problems of a draft, keyed by the path of the API's field. */
export function problemsOf(draft: OfferDraft, keptSince: number | null | undefined, now: number): Map<string, string> {
  const problems = new Map<string, string>();
  const require = (path: string, value: string) => {
    if (value.trim() === "") problems.set(path, text.required);
  };
  const range = (path: string, value: string, least: number, most: number) => {
    const number = /^\d{1,10}$/.test(value.trim()) ? Number(value) : -1;
    if (value.trim() !== "" && (number < least || number > most)) problems.set(path, text.badNumber(least, most));
  };
  const countries = (path: string, typed: string) => {
    const unknown = codesOf(typed).filter((code) => !COUNTRIES.includes(code));
    if (unknown.length > 0) problems.set(path, text.unknownCountries(unknown));
  };
  const time = (path: string, field: string) => {
    if (field !== "" && readTime(field) === undefined) problems.set(path, text.badTime);
  };
  for (const path of ["advertiser_id", "s_id", "name", "lp_url", "ic_url"] as const) require(path, draft[path]);
  range("click_id_max", draft.click_id_max, 50, 1000);
  countries("geo_tgt.include", draft.include);
  countries("geo_tgt.exclude", draft.exclude);
  range("click_cap.lim", draft.click_cap, 0, MAX_CAP);
  range("conversion_cap.lim", draft.conversion_cap, 0, MAX_CAP);
  for (const path of ["starts_at", "ends_at", "terms_since"] as const) time(path, draft[path]);
  const [start, end] = [readTime(draft.starts_at), readTime(draft.ends_at)];
  if (start !== undefined && end !== undefined && end <= start) problems.set("ends_at", text.endBeforeStart);
  const since = readTime(draft.terms_since);
  if (keptSince != null && (since === undefined || since < keptSince)) {
    problems.set("terms_since", text.onlyRises(timeText(keptSince)));
  }
  if (since !== undefined && since > now) problems.set("terms_since", text.inFuture);
  range("conversion_window_days", draft.conversion_window_days, 1, 90);
  range("min_seconds_to_convert", draft.min_seconds_to_convert, 1, 86_400);
  draft.goals.forEach((goal, index) => {
    const path = (field: keyof GoalDraft) => `goals[${index}].${field}`;
    const isTwice = draft.goals.slice(0, index).some(({ id }) => id === goal.id);
    if (!isId(goal.id)) problems.set(path("id"), goal.id === "" ? text.required : text.badId);
    else if (isTwice) problems.set(path("id"), text.twice);
    require(path("ttl"), goal.ttl);
    const payout = micros(goal.payout_usd);
    if (payout === null || payout > MAX_PAYOUT) problems.set(path("payout_usd"), text.badPayout);
    require(path("ord"), goal.ord);
    range(path("ord"), goal.ord, 0, MAX_ORDER);
  });
  return problems;
}

const numberOr = <Name extends string>(name: Name, typed: string) =>
  (typed.trim() === "" ? {} : { [name]: Number(typed) }) as { [name in Name]?: number };
const timeOr = <Name extends string>(name: Name, field: string) =>
  (field === "" ? {} : { [name]: readTime(field) }) as { [name in Name]?: number };
const capOr = <Name extends string>(name: Name, typed: string) =>
  (typed.trim() === "" ? {} : { [name]: { dur: "DAILY", lim: Number(typed) } }) as {
    [name in Name]?: Offer["click_cap"];
  };

/** The document of a draft with no problems. */
export const documentOf = (draft: OfferDraft): Offer => ({
  advertiser_id: draft.advertiser_id.trim(),
  off_type: draft.off_type,
  s_id: draft.s_id.trim(),
  name: draft.name.trim(),
  lp_url: draft.lp_url.trim(),
  ...(draft.target_url.trim() && { target_url: draft.target_url.trim() }),
  ...numberOr("click_id_max", draft.click_id_max),
  ic_url: draft.ic_url.trim(),
  desc: draft.desc,
  ctg: draft.ctg,
  os: draft.os,
  // `problemsOf` has checked the codes.
  geo_tgt: { include: codesOf(draft.include) as Country[], exclude: codesOf(draft.exclude) as Country[] },
  goals: draft.goals.map((goal) => ({
    ...goal,
    payout_usd: Number(goal.payout_usd),
    ord: Number(goal.ord),
    gl_val: goal.gl_val.trim() || null,
  })),
  ...capOr("conversion_cap", draft.conversion_cap),
  ...capOr("click_cap", draft.click_cap),
  ...timeOr("starts_at", draft.starts_at),
  ...timeOr("ends_at", draft.ends_at),
  ...numberOr("conversion_window_days", draft.conversion_window_days),
  ...(draft.once_per && { once_per: draft.once_per }),
  ...numberOr("min_seconds_to_convert", draft.min_seconds_to_convert),
  ...timeOr("terms_since", draft.terms_since),
  active: draft.active,
});

/** The document of a stored offer, without the members that a write must not have. */
export function writable({
  offer_id: _id,
  terms_revision: _revision,
  updated_at: _at,
  retired_goals: _goals,
  ...offer
}: KeptOffer): Offer {
  return offer;
}

/** The fields of the API that the editor shows. */
export const SHOWN_FIELDS = [
  ...Object.keys(NEW_OFFER).filter((name) => !["include", "exclude", "goals"].includes(name)),
  "geo_tgt.include",
  "geo_tgt.exclude",
  "goals",
];
