// The matches of a pasted text.

import type { OperatorSchemas } from "../../shared/api-types";

export type Found = OperatorSchemas["Found"];
export type Match = Found["matches"][number];
export type UserMatch = Extract<Match, { kind: "user" }>;
/** The click of a short id whose record has left: what it was of is not known any more. */
export type ExpiredClick = Extract<Match, { is_expired: true }>;
export type ClickMatch = Exclude<Extract<Match, { kind: "click" }>, ExpiredClick>;
/** What has a page of its own. */
export type PageMatch = Exclude<Match, { kind: "user" | "click" }>;
