// Whether a publisher is approved.

import { publishers as text } from "../../messages/publishers";
import type { Publisher } from "../../types/publishers";

export const StateBadge = ({ publisher: { approved } }: { publisher: Publisher }) => (
  <span class={`badge ${approved ? "approved" : "held"}`}>{approved ? text.approved : text.notApproved}</span>
);
