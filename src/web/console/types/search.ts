// The matches of a pasted text.

import type { OperatorSchemas } from "../../shared/api-types";

export type Found = OperatorSchemas["Found"];
export type Match = Found["matches"][number];
export type UserMatch = Extract<Match, { kind: "user" }>;
/** A click that is not shown: it is too old, or its user was erased. */
export type HiddenClick = Extract<Match, { not_shown: string }>;
export type ClickMatch = Exclude<Extract<Match, { kind: "click" }>, HiddenClick>;
/** Matches that have a page of their own. */
export type PageMatch = Exclude<Match, { kind: "user" | "click" }>;
