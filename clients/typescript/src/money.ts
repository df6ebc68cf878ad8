// Exact money: amounts are JSON numbers with at most 6 decimals, and sums of such numbers are not exact in JavaScript.

/** Beyond this amount, neighbouring numbers are more than half a millionth apart. */
const MAX_AMOUNT = 4_000_000_000;

/** The whole millionths of an amount, such as micro-USD: add these, and divide by 1,000,000 to show them. */
export function micros(amount: number): number {
  if (!(Math.abs(amount) <= MAX_AMOUNT))
    throw new RangeError(`an amount must be at most ${MAX_AMOUNT} (got ${amount})`);
  return Math.round(amount * 1_000_000);
}
