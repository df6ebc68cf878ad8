// The changes of a save in words, and whether the save makes new terms.

import { exactMoney } from "../../../shared/format";
import { type Clash, setAt, type Words } from "../../../shared/use-merged";
import type { Offer, OfferTerms } from "../../../shared/generated/openapi";
import { fields, goalFields } from "../../messages/offer-editor";
import { review as text } from "../../messages/offers";
import { documentOf, type GoalDraft, ofTree, type treeOf } from "./draft";
import { changesIn, FIELDS, GOAL_FIELDS, valuesOf } from "./offer-fields";

export interface Change {
  field: string;
  before: string;
  after: string;
}

const DEFAULT_WINDOW_DAYS = 30;

export function changesOf(before: Offer, after: Offer): Change[] {
  const byId = new Map(before.goals.map((goal) => [goal.id, goal]));
  const kept = new Set(after.goals.map(({ id }) => id));
  return [
    ...changesIn(FIELDS, fields, valuesOf(before), valuesOf(after)),
    ...after.goals.flatMap((goal) => {
      const field = text.goalRetired(goal.id);
      const old = byId.get(goal.id);
      if (!old)
        return [{ field, before: text.none, after: `${text.fresh}: ${goal.ttl}, ${exactMoney(goal.payout_usd)}` }];
      return changesIn(GOAL_FIELDS, goalFields, old, goal).map((change) => ({
        ...change,
        field: `${field}: ${change.field}`,
      }));
    }),
    ...before.goals
      .filter(({ id }) => !kept.has(id))
      .map(({ id, ttl }) => ({ field: text.goalRetired(id), before: ttl, after: text.retired })),
  ];
}

/** A field that the member and somebody else have changed, shown as a change from their value to the member's. */
export function clashWords({ path, theirs, mine }: Clash, tree: ReturnType<typeof treeOf>): Words {
  const offerWith = (value: unknown) => documentOf(ofTree(setAt(tree, path, value)));
  const [change] = changesOf(offerWith(theirs), offerWith(mine));
  if (!change) return { field: path.join(" "), theirs: "", mine: "" };
  const { field, before, after } = change;
  // Text that cannot be parsed is shown as it was typed.
  const isUnread = typeof mine === "string" && mine.trim() !== "" && [text.none, "NaN", "$NaN"].includes(after);
  const payout = () => (mine as GoalDraft).payout_usd;
  return { field, theirs: before, mine: isUnread ? mine : after.replace(/\$NaN$/, payout) };
}

/** The terms that a click is promised. A postback that names no goal means the first goal, so the order matters. */
export const termsOf = (offer: Offer): OfferTerms => ({
  advertiser_id: offer.advertiser_id,
  conversion_window_days: offer.conversion_window_days ?? DEFAULT_WINDOW_DAYS,
  once_per: offer.once_per ?? "user",
  goals: offer.goals
    .toSorted((one, other) => one.ord - other.ord || (one.id < other.id ? -1 : 1))
    .map(({ id, payout_usd, gl_val }) => ({ id, payout_usd, gl_val: gl_val ?? null })),
});

export const makesNewTerms = (before: Offer, after: Offer) =>
  JSON.stringify(termsOf(before)) !== JSON.stringify(termsOf(after));
