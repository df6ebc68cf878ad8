// The changes of a save in words, and whether the save makes new terms.

import { countryName, exactMoney, timeText } from "../../../shared/format";
import { PLATFORM_NAMES } from "../../../shared/messages/apps";
import { editor as names } from "../../messages/offer-editor";
import { CATEGORY_NAMES, ONCE_PER_NAMES, review as text, TYPE_NAMES } from "../../messages/offers";
import type { Goal, Offer, Terms } from "../../types/offers";
import { type Clash, setAt, type Words } from "../../../shared/use-merged";
import { documentOf, type GoalDraft, ofTree, type treeOf } from "./draft";

export interface Change {
  field: string;
  before: string;
  after: string;
}

const DEFAULT_WINDOW_DAYS = 30;

const or = <Value>(value: Value | null | undefined, write: (value: Value) => string = String) =>
  value === null || value === undefined || value === "" ? text.none : write(value);
const list = (values: string[] | undefined, nameOf: (value: string) => string) =>
  values?.length ? values.map(nameOf).join(", ") : text.none;

const FIELDS: [string, (offer: Offer) => string][] = [
  [names.advertiserId, ({ advertiser_id }) => advertiser_id],
  [names.name, ({ name }) => name],
  [names.type, ({ off_type }) => TYPE_NAMES[off_type]],
  [names.os, ({ os }) => PLATFORM_NAMES[os]],
  [names.appId, ({ s_id }) => s_id],
  [names.icon, ({ ic_url }) => ic_url],
  [names.categories, ({ ctg }) => list(ctg, (name) => CATEGORY_NAMES[name as keyof typeof CATEGORY_NAMES])],
  [names.description, ({ desc }) => or(desc)],
  [names.active, ({ active }) => (active ? "yes" : "no")],
  [names.landing, ({ lp_url }) => lp_url],
  [names.target, ({ target_url }) => or(target_url)],
  [names.clickIdMax, ({ click_id_max }) => or(click_id_max)],
  [names.include, ({ geo_tgt }) => list(geo_tgt.include, countryName)],
  [names.exclude, ({ geo_tgt }) => list(geo_tgt.exclude, countryName)],
  [names.clickCap, ({ click_cap }) => or(click_cap?.lim)],
  [names.conversionCap, ({ conversion_cap }) => or(conversion_cap?.lim)],
  [names.startsAt, ({ starts_at }) => or(starts_at, timeText)],
  [names.endsAt, ({ ends_at }) => or(ends_at, timeText)],
  [names.window, ({ conversion_window_days }) => or(conversion_window_days)],
  [names.oncePer, ({ once_per }) => ONCE_PER_NAMES[once_per ?? "user"]],
  [names.minSeconds, ({ min_seconds_to_convert }) => or(min_seconds_to_convert)],
  [names.termsSince, ({ terms_since }) => or(terms_since, timeText)],
];

const GOAL_FIELDS: [string, (goal: Goal) => string][] = [
  [names.goalTitle, ({ ttl }) => ttl],
  [names.instructions, ({ instr }) => or(instr)],
  [names.payout, ({ payout_usd }) => exactMoney(payout_usd)],
  [names.order, ({ ord }) => String(ord)],
  [names.event, ({ gl_val }) => or(gl_val)],
];

export function changesOf(before: Offer, after: Offer): Change[] {
  const differing = <Value>(fields: [string, (value: Value) => string][], one: Value, other: Value, prefix = "") =>
    fields
      .map(([field, write]) => ({ field: prefix + field, before: write(one), after: write(other) }))
      .filter((change) => change.before !== change.after);
  const byId = new Map(before.goals.map((goal) => [goal.id, goal]));
  const kept = new Set(after.goals.map(({ id }) => id));
  return [
    ...differing(FIELDS, before, after),
    ...after.goals.flatMap((goal) => {
      const field = text.goalRetired(goal.id);
      const old = byId.get(goal.id);
      if (!old)
        return [{ field, before: text.none, after: `${text.fresh}: ${goal.ttl}, ${exactMoney(goal.payout_usd)}` }];
      return differing(GOAL_FIELDS, old, goal, `${field}: `);
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
export const termsOf = (offer: Offer): Terms => ({
  advertiser_id: offer.advertiser_id,
  conversion_window_days: offer.conversion_window_days ?? DEFAULT_WINDOW_DAYS,
  once_per: offer.once_per ?? "user",
  goals: offer.goals
    .toSorted((one, other) => one.ord - other.ord || (one.id < other.id ? -1 : 1))
    .map(({ id, payout_usd, gl_val }) => ({ id, payout_usd, gl_val: gl_val ?? null })),
});

export const makesNewTerms = (before: Offer, after: Offer) =>
  JSON.stringify(termsOf(before)) !== JSON.stringify(termsOf(after));
