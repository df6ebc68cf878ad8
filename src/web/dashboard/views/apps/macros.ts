// Finds the macros in a callback's URL while it is typed. The service checks the whole URL when it is saved.

import { MACROS } from "../../messages/apps";

export const MACRO_NAMES = Object.keys(MACROS);

export interface Macros {
  used: string[];
  /** Names in braces that are not macros, each with the macro that was probably meant; null if there is none. */
  unknown: { name: string; known: string | null }[];
  hasStrayBrace: boolean;
}

export function findMacros(url: string): Macros {
  const text = url.replace(/%7B/gi, "{").replace(/%7D/gi, "}");
  const names = [...text.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1]!);
  const unique = [...new Set(names)];
  return {
    used: MACRO_NAMES.filter((name) => unique.includes(name)),
    unknown: unique.filter((name) => !MACRO_NAMES.includes(name)).map((name) => ({ name, known: meant(name) })),
    hasStrayBrace: /[{}]/.test(text.replace(/\{[^{}]*\}/g, "")),
  };
}

// Names that other networks use for the same values.
const ALIASES: Record<string, string> = {
  uid: "user_id",
  sub_id: "user_id",
  subid: "user_id",
  amount: "value",
  reward: "value",
  points: "value",
  revenue: "payout",
  tid: "transaction_id",
  txid: "transaction_id",
  trans_id: "transaction_id",
  id: "transaction_id",
  campaign_id: "offer_id",
  event: "goal_id",
  timestamp: "ts",
  time: "ts",
};

function meant(name: string): string | null {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "_");
  if (MACRO_NAMES.includes(plain)) return plain;
  if (ALIASES[plain]) return ALIASES[plain];
  const near = MACRO_NAMES.filter((known) => known.length > 2 && distance(plain, known) <= 2);
  return near.length === 1 ? near[0]! : null;
}

/** The Levenshtein distance between two names. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at += 1) {
      next.push(Math.min(next[at]! + 1, row[at + 1]! + 1, row[at]! + (letter === other[at] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length]!;
}
