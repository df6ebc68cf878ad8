// Apps, their callbacks, and the comparison of a day.

import type { OperatorSchemas } from "../../shared/api-types";

export type AppCallback = OperatorSchemas["Callback"];
/** The part of an app that a write sends. */
export type AppDocument = OperatorSchemas["App"];
export type App = OperatorSchemas["KeptApp"];
export type AppPage = OperatorSchemas["AppList"];
export type CallbackHealth = OperatorSchemas["CallbackHealth"];
export type CallbackTest = OperatorSchemas["CallbackTest"];
/** Sums are in micro-USD: rewards minus reversals. */
export type Comparison = OperatorSchemas["Comparison"];
export type ComparedOutbox = Comparison["outboxes"][number];
export type DayRewards = Pick<Comparison, "rewards" | "rewards_after_24_h" | "rewards_by_superseded_terms">;
