// Sums of amounts. They are added as integers, because binary fractions would not add up.

/** An amount in USD, which has at most 6 decimals, in micro-USD. */
export const micros = (amount: number | undefined) => Math.round((amount ?? 0) * 1_000_000);

export const sum = <Row>(rows: Row[], of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0);
