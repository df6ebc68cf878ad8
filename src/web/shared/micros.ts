// Decimal text as exact integers.

export const MICROS = 1_000_000n;

/** Decimal text in millionths; null if the text is not a number of at least 0 with at most 6 decimals. */
export function micros(text: string): bigint | null {
  const match = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text.trim());
  if (!match) return null;
  return BigInt(match[1]!) * MICROS + BigInt((match[2] ?? "").padEnd(6, "0"));
}
