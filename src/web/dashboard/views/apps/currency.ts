// Amounts in an app's currency, by the rule of `domain::model::money`: exact integers, rounded once.

import { MICROS, micros } from "../../../shared/micros";
import type { Rounding } from "../../types";

// micro-USD × micro-units of the currency.
const DECIMALS_OF_PRODUCT = 12;
const MAX_PER_USD = 1_000_000_000n * MICROS;
export const MAX_DECIMALS = 6;

/** A rate that the service accepts. */
export function isRate(text: string): boolean {
  const rate = micros(text);
  return rate !== null && rate > 0n && rate <= MAX_PER_USD;
}

interface Rate {
  /** Decimal text, as it is typed. */
  per_usd: string;
  decimals: number;
  rounding?: Rounding;
}

/** A payout in the currency, as decimal text; null if the rate or the payout is not a number. */
export function convert(payoutUsd: string, { per_usd, decimals, rounding = "down" }: Rate): string | null {
  const payout = micros(payoutUsd);
  const rate = micros(per_usd);
  if (payout === null || rate === null) return null;
  const exact = payout * rate;
  const step = 10n ** BigInt(DECIMALS_OF_PRODUCT - decimals);
  const rest = exact % step;
  const isUp = rounding === "up" ? rest > 0n : rounding === "nearest" ? rest * 2n >= step : false;
  return decimalText(exact / step + (isUp ? 1n : 0n), decimals);
}

/** The decimal text without trailing zeros, as callbacks write it. */
function decimalText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction && decimals > 0 ? `${whole}.${fraction}` : whole;
}
