// The same change of several offers, applied to the current values of each offer.

import { micros } from "../../../shared/micros";
import type { Tagged } from "../../../shared/client";
import type { KeptOffer, Offer } from "../../../shared/generated/openapi";
import { type Change, changesOf, makesNewTerms } from "./changes";
import { documentOf, draftOf, type OfferDraft, problemsOf, writable } from "./draft";
import { payoutText } from "./offer-fields";

/** The fields that can be set to a typed value, or cleared. */
export const TYPED = ["click_cap", "conversion_cap", "starts_at", "ends_at"] as const;
type TypedField = (typeof TYPED)[number];
type Doing = "" | "set" | "remove";

export interface Edit {
  active: "" | "on" | "off";
  /** Percent by which payouts change, such as -10 or 2.5. */
  payout: string;
  doing: Record<TypedField, Doing>;
  typed: Record<TypedField, string>;
}

const each = <Value>(value: Value) =>
  Object.fromEntries(TYPED.map((field) => [field, value])) as Record<TypedField, Value>;

export const NO_EDIT: Edit = { active: "", payout: "", doing: each(""), typed: each("") };

/** True if the edit changes something, and each value to set was typed. */
export const isComplete = ({ active, payout, doing, typed }: Edit) =>
  (active !== "" || payout.trim() !== "" || TYPED.some((field) => doing[field] !== "")) &&
  TYPED.every((field) => doing[field] !== "set" || typed[field].trim() !== "");

/** Parses a percentage into hundredths of a percent. Null for other text, and below -100: no payout is negative. */
export function percentOf(text: string): bigint | null {
  const match = /^([+-]?)(\d{1,4})(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (!match) return null;
  const size = BigInt(match[2]! + (match[3] ?? "").padEnd(2, "0"));
  const percent = match[1] === "-" ? -size : size;
  return percent >= -10_000n ? percent : null;
}

/** A payout in USD after the change, rounded to the nearest millionth, halves up. */
function changed(usd: string, percent: bigint): string {
  const payout = micros(usd) ?? 0n;
  return payoutText(Number((payout * (10_000n + percent) + 5_000n) / 10_000n) / 1_000_000);
}

function edited(draft: OfferDraft, { active, payout, doing, typed }: Edit): OfferDraft {
  const next = { ...draft };
  if (active) next.active = active === "on";
  for (const field of TYPED) if (doing[field]) next[field] = doing[field] === "set" ? typed[field].trim() : "";
  const percent = payout.trim() === "" ? null : percentOf(payout);
  if (percent !== null) {
    next.goals = draft.goals.map((goal) => ({ ...goal, payout_usd: changed(goal.payout_usd, percent) }));
  }
  return next;
}

/** The result of an edit for one offer. */
export interface Planned {
  seen: Tagged<KeptOffer>;
  document: Offer;
  changes: Change[];
  hasNewTerms: boolean;
  problems: string[];
}

/** True if the offer already is as it was planned: the answer to its write may have been lost. */
export const isDone = ({ document, changes }: Planned, seen: KeptOffer) =>
  changes.length > 0 && changesOf(writable(seen), document).length === 0;

export function plan(seen: Tagged<KeptOffer>, edit: Edit, now: number): Planned {
  const before = writable(seen);
  const draft = edited(draftOf(seen), edit);
  const problems = [...new Set(problemsOf(draft, seen.terms_since, now).values())];
  const document = documentOf(draft);
  return {
    seen,
    document,
    changes: changesOf(before, document),
    hasNewTerms: makesNewTerms(before, document),
    problems,
  };
}
