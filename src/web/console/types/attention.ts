// What wants the operator's attention.

export type AttentionKind =
  | "held"
  | "capped"
  | "dead"
  | "disabled"
  | "failing"
  | "near_limit"
  | "batch_refused"
  | "batch_late"
  | "differs";

export interface AttentionItem {
  kind: AttentionKind;
  /** None of an object that is near its limit. */
  app_id: string | null;
  publisher_id: string | null;
  /** A transaction id, an object's name, a batch, or a day of an outbox. */
  subject: string;
  /** In milliseconds. */
  since_ms: number;
  /** A code. */
  reason: string;
  /** Of a day that differs, the difference. */
  payout_usd?: number;
  bytes?: number;
}

export interface AttentionPage {
  items: AttentionItem[];
  counts: Record<AttentionKind, number>;
  /** Those for which the list has no room. */
  not_listed: Partial<Record<AttentionKind, number>>;
  behind_ms: number;
  cursor: string | null;
}
