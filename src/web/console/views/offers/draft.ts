// An offer as it is typed: the texts of its fields, their problems, and the document that they make.

import { readTime, timeText } from "../../../shared/format";
import type { Goal, KeptOffer, Offer } from "../../../shared/generated/openapi";
import { editor as text } from "../../messages/offer-editor";
import { FIELDS, GOAL_FIELDS, problemsIn, type Typed, typedOf, valuesOf, writtenOf } from "./offer-fields";

export type GoalDraft = Typed<typeof GOAL_FIELDS>;

export type OfferDraft = Typed<typeof FIELDS> & { goals: GoalDraft[] };

export const draftOf = (offer: Offer): OfferDraft => ({
  ...typedOf(FIELDS, valuesOf(offer)),
  goals: offer.goals.map((goal) => typedOf(GOAL_FIELDS, goal)),
});

export function emptyGoal(goals: GoalDraft[]): GoalDraft {
  const last = Math.max(0, ...goals.map(({ ord }) => Number(ord) || 0));
  return { id: "", ttl: "", instr: "", payout_usd: "", ord: String(last + 1), gl_val: "" };
}

export const NEW_OFFER: OfferDraft = {
  ...draftOf({ off_type: "CPE", ctg: [], os: "android", desc: "", active: true, goals: [] } as unknown as Offer),
  goals: [emptyGoal([])],
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

/** The problems of a draft, keyed by the path of the API's field. */
export function problemsOf(draft: OfferDraft, keptSince: number | null | undefined, now: number): Map<string, string> {
  const problems = new Map(problemsIn(FIELDS, draft));
  const [start, end, since] = [draft.starts_at, draft.ends_at, draft.terms_since].map(readTime);
  if (start !== undefined && end !== undefined && end <= start) problems.set("ends_at", text.endBeforeStart);
  if (keptSince != null && (since === undefined || since < keptSince)) {
    problems.set("terms_since", text.onlyRises(timeText(keptSince)));
  }
  if (since !== undefined && since > now) problems.set("terms_since", text.inFuture);
  draft.goals.forEach((goal, index) => {
    const isTwice = goal.id !== "" && draft.goals.slice(0, index).some(({ id }) => id === goal.id);
    if (isTwice) problems.set(`goals[${index}].id`, text.twice);
    for (const [name, problem] of problemsIn(GOAL_FIELDS, goal)) problems.set(`goals[${index}].${name}`, problem);
  });
  return problems;
}

/** The document of a draft with no problems. */
export function documentOf(draft: OfferDraft): Offer {
  const { include, exclude, ...fields } = writtenOf(FIELDS, draft);
  const goals = draft.goals.map((goal) => writtenOf(GOAL_FIELDS, goal) as Goal);
  return { ...fields, geo_tgt: { include, exclude }, goals } as Offer;
}

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
  ...Object.keys(FIELDS).map((name) => (name === "include" || name === "exclude" ? `geo_tgt.${name}` : name)),
  "goals",
];
