// The fields of an offer and of its goals: how each is typed, checked, sent, and shown in a review.

import type { InputProps } from "../../../shared/components/field";
import { COUNTRIES } from "../../../shared/countries";
import { countryName, exactMoney, readTime, timeText, typedTime } from "../../../shared/format";
import { PLATFORM_NAMES } from "../../../shared/messages/apps";
import { micros, MICROS } from "../../../shared/micros";
import { unique } from "../../../shared/unique";
import type { Category, Country, Offer, Platform } from "../../../shared/generated/openapi";
import { isId } from "../../ids";
import { editor as text } from "../../messages/offer-editor";
import { CATEGORY_NAMES, ONCE_PER_NAMES, type OncePer, review, TYPE_NAMES } from "../../messages/offers";

const PLATFORMS: Platform[] = ["android", "ios", "web"];
const MAX_PAYOUT = 1_000_000n * MICROS;

type Maybe<Value> = Value | null | undefined;

interface Field<Typed, Value> {
  /** The stored value as it is typed. */
  read: (value: Maybe<Value>) => Typed;
  /** The value to send. Undefined leaves the field out. */
  write: (typed: Typed) => Value | undefined;
  words: (value: Maybe<Value>) => string;
  problem?: (typed: Typed) => string | false;
  /** The path of the API's field, if it is not the field's name. */
  path?: string;
  input?: Pick<InputProps, "class" | "inputMode">;
}

const or =
  <Value>(write: (value: Value) => string) =>
  (value: Maybe<Value>) =>
    value == null || value === "" ? review.none : write(value);
const list = (values: Maybe<string[]>, nameOf: (value: string) => string) =>
  values?.length ? values.map(nameOf).join(", ") : review.none;

/** Codes that were typed or pasted, separated by commas, semicolons, spaces or line breaks. */
export const codesOf = (typed: string) => unique(typed.toUpperCase().split(/[\s,;]+/));

const required = (typed: string) => typed.trim() === "" && text.required;

const kept = <Value>(words: (value: Value) => string): Field<Value, Value> => ({
  read: (value) => value!,
  write: (typed) => typed,
  words: (value) => words(value!),
});

const choice = <Value extends string>(names: Record<Value, string>, options = Object.keys(names) as Value[]) => ({
  ...kept((value: Value) => names[value]),
  names,
  options,
});

const line = (input?: Field<string, string>["input"]): Field<string, string> => ({
  read: (value) => value ?? "",
  write: (typed) => typed.trim(),
  words: String,
  problem: required,
  input,
});

const MONO = { class: "mono" } as const;
const URL = { ...MONO, inputMode: "url" } as const;

const number = (least: number, most: number): Field<string, number> => ({
  read: (value) => (value == null ? "" : String(value)),
  write: (typed) => (typed.trim() === "" ? undefined : Number(typed)),
  words: or(String),
  problem: (typed) => {
    const number = /^\d{1,10}$/.test(typed.trim()) ? Number(typed) : -1;
    return typed.trim() !== "" && (number < least || number > most) && text.badNumber(least, most);
  },
  input: { inputMode: "numeric" },
});

const limit = number(0, 1_000_000_000);

const cap = (path: string): Field<string, NonNullable<Offer["click_cap"]>> => ({
  ...limit,
  read: (cap) => limit.read(cap?.lim),
  write: (typed) => (typed.trim() === "" ? undefined : { dur: "DAILY", lim: Number(typed) }),
  words: (cap) => limit.words(cap?.lim),
  path,
});

const time: Field<string, number> = {
  read: (at) => (at == null ? "" : typedTime(at)),
  write: readTime,
  words: or(timeText),
  problem: (typed) => typed !== "" && readTime(typed) === undefined && text.badTime,
};

const countries = (path: string): Field<string, Country[]> => ({
  read: (codes) => (codes ?? []).join(", "),
  // `problem` has checked the codes.
  write: (typed) => codesOf(typed) as Country[],
  words: (codes) => list(codes, countryName),
  problem: (typed) => {
    const unknown = codesOf(typed).filter((code) => !COUNTRIES.includes(code));
    return unknown.length > 0 && text.unknownCountries(unknown);
  },
  path,
  input: MONO,
});

const order = number(0, 4_294_967_295);

/** The payout as text, without the exponent that JavaScript writes for small numbers. */
export const payoutText = (usd: number) => usd.toFixed(6).replace(/\.?0+$/, "");

/** In the order of a review. */
export const FIELDS = {
  advertiser_id: line(MONO),
  name: line(),
  off_type: choice(TYPE_NAMES),
  os: choice(PLATFORM_NAMES, PLATFORMS),
  s_id: line(MONO),
  ic_url: line(URL),
  ctg: kept((names: Category[]) => list(names, (name) => CATEGORY_NAMES[name as Category])),
  desc: kept<string>(or(String)),
  active: kept((active: boolean) => (active ? "yes" : "no")),
  lp_url: line(URL),
  target_url: {
    ...line(URL),
    write: (typed: string) => typed.trim() || undefined,
    words: or(String),
    problem: undefined,
  },
  click_id_max: number(50, 1000),
  include: countries("geo_tgt.include"),
  exclude: countries("geo_tgt.exclude"),
  click_cap: cap("click_cap.lim"),
  conversion_cap: cap("conversion_cap.lim"),
  starts_at: time,
  ends_at: time,
  conversion_window_days: number(1, 90),
  once_per: {
    ...choice(ONCE_PER_NAMES),
    read: (value: Maybe<OncePer>): OncePer | "" => value ?? "",
    write: (typed: OncePer | "") => typed || undefined,
    words: (value: Maybe<OncePer>) => ONCE_PER_NAMES[value ?? "user"],
  },
  min_seconds_to_convert: number(1, 86_400),
  terms_since: time,
};

export const GOAL_FIELDS = {
  id: { ...kept(String), problem: (typed: string) => !isId(typed) && (typed === "" ? text.required : text.badId) },
  ttl: { ...kept(String), problem: required },
  instr: kept<string>(or(String)),
  payout_usd: {
    read: payoutText as (usd: Maybe<number>) => string,
    write: Number,
    words: exactMoney,
    problem: (typed: string) => {
      const payout = micros(typed);
      return (payout === null || payout > MAX_PAYOUT) && text.badPayout;
    },
  },
  ord: { ...order, write: Number, problem: (typed: string) => required(typed) || order.problem!(typed) },
  gl_val: { ...line(), write: (typed: string) => typed.trim() || null, words: or(String), problem: undefined },
};

type Table = Record<string, { read: (value: never) => unknown }>;
/** The values of fields as they are typed. */
export type Typed<Fields extends Table> = { [Name in keyof Fields]: ReturnType<Fields[Name]["read"]> };
type Texts = Typed<typeof FIELDS>;
/** The fields that are typed as a line of text. */
export type TextName = { [Name in keyof Texts]: string extends Texts[Name] ? Name : never }[keyof Texts];

type Values = Record<string, unknown>;
const entries = (fields: Table) => Object.entries(fields) as unknown as [string, Field<unknown, unknown>][];

export const typedOf = <Fields extends Table>(fields: Fields, values: Values) =>
  Object.fromEntries(entries(fields).map(([name, { read }]) => [name, read(values[name])])) as Typed<Fields>;

export const writtenOf = (fields: Table, typed: Values) =>
  Object.fromEntries(
    entries(fields)
      .map(([name, { write }]) => [name, write(typed[name])])
      .filter(([, value]) => value !== undefined),
  );

/** The problems of typed values, each with the path of its field. */
export const problemsIn = (fields: Table, typed: Values) =>
  entries(fields).flatMap(([name, { path = name, problem }]): [string, string][] => {
    const found = problem?.(typed[name]);
    return found ? [[path, found]] : [];
  });

export const changesIn = (fields: Table, labels: Record<string, { label: string }>, one: Values, other: Values) =>
  entries(fields)
    .map(([name, { words }]) => ({ field: labels[name]!.label, before: words(one[name]), after: words(other[name]) }))
    .filter(({ before, after }) => before !== after);

/** The values of an offer by the names of its fields. */
export const valuesOf = (offer: Offer): Values => ({ ...offer, ...offer.geo_tgt });
