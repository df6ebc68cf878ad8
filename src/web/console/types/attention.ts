// The items that need the operator's attention.

import type { OperatorSchemas } from "../../shared/api-types";

export type AttentionKind = OperatorSchemas["AttentionKind"];
export type AttentionPage = OperatorSchemas["AttentionList"];
export type AttentionItem = AttentionPage["items"][number];
