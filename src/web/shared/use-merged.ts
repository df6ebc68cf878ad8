// Merges typed values with somebody else's changes. A field that only one of the two has changed takes that change.

import { useState } from "preact/hooks";
import { form as text } from "./messages/form";
import { unique } from "./unique";

/** A field that both have changed. */
export interface Clash {
  path: string[];
  base: unknown;
  theirs: unknown;
  mine: unknown;
}

/** A clash in words, and how it is decided. */
export interface Decision {
  key: string;
  field: string;
  theirs: string;
  mine: string;
  decide: (takes: "theirs" | "mine") => void;
}

export type Words = Omit<Decision, "key" | "decide">;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/** If both have changed a field, mine stays, and the field is added to `clashes`. */
export function merge(base: unknown, theirs: unknown, mine: unknown, clashes: Clash[], path: string[] = []): unknown {
  if (same(theirs, base) || same(theirs, mine)) return mine;
  if (same(mine, base)) return theirs;
  if (isTree(theirs) && isTree(mine)) {
    const old = isTree(base) ? base : {};
    const order = same(Object.keys(mine), Object.keys(old)) ? [theirs, mine] : [mine, theirs];
    const fields = unique(order.flatMap(Object.keys)).map((name) => [
      name,
      merge(old[name], theirs[name], mine[name], clashes, [...path, name]),
    ]);
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  clashes.push({ path, base, theirs, mine });
  return mine;
}

export const setAt = <T>(tree: T, [name, ...rest]: string[], value: unknown): T =>
  name === undefined ? (value as T) : { ...tree, [name]: setAt((tree as Tree)[name], rest, value) };

/** How to write values that are codes or numbers, by the paths of their fields. */
export type Writes = Record<string, (value: string) => string>;

/** Words for the clashes of a form, by the paths of its fields. */
export const named =
  (names: Record<string, string>, writes: Writes = {}) =>
  ({ path, theirs, mine }: Clash): Words => {
    const field = path.join(".");
    const write = (value: unknown) => (writes[field] ?? String)(String(value).trim());
    const textOf = (value: unknown) => [value ?? ""].flat().map(write).join(", ") || text.empty;
    return { field: names[field]!, theirs: textOf(theirs), mine: textOf(mine) };
  };

export function useMerged<Values>(saved: Values, wordsOf: (clash: Clash, values: Values) => Words) {
  const [typed, setTyped] = useState({ base: saved, mine: saved });
  const found: Clash[] = [];
  const values = merge(typed.base, saved, typed.mine, found) as Values;
  // Values that read the same, such as 4 and 4.00, are not a clash.
  const worded = found
    .map((clash) => ({ clash, words: wordsOf(clash, values) }))
    .filter(({ words }) => words.theirs !== words.mine);
  const clashes = worded.map(({ clash }) => clash);
  // Only fields that are still undecided keep the value that both started from.
  const take = (mine: Values, open: Clash[]) =>
    setTyped({ base: open.reduce((tree, { path, base }) => setAt(tree, path, base), saved), mine });
  return {
    values,
    isChanged: !same(values, saved),
    clashes: worded.map(({ clash, words }) => ({
      ...words,
      key: clash.path.join(" "),
      decide: (takes: "theirs" | "mine") =>
        take(
          setAt(values, clash.path, clash[takes]),
          clashes.filter((other) => other !== clash),
        ),
    })),
    set: (mine: Values) => take(mine, clashes),
    discard: () => setTyped({ base: saved, mine: saved }),
    /** These values were saved. What was typed since then stays. */
    saved: (sent: Values) => setTyped((now) => ({ base: sent, mine: now === typed ? sent : now.mine })),
  };
}

export type Merged<Values> = ReturnType<typeof useMerged<Values>>;
