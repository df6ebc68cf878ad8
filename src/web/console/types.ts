// Types of the calls that are not named in the operator's document.

import type { AttentionList } from "../shared/generated/openapi";

export * from "../shared/types";

export type AttentionItem = AttentionList["items"][number];
