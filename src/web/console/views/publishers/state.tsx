// The badge that says whether a publisher is approved, or closed.

import { publishers as text } from "../../messages/publishers";
import { may } from "../../session";
import type { Publisher } from "../../types/publishers";

export const mayBeApproved = ({ approved, closed }: Publisher) => may("manage") && !approved && !closed;

export const StateBadge = ({ publisher: { approved, closed } }: { publisher: Publisher }) => (
  <span class={`badge ${closed ? "" : approved ? "approved" : "held"}`}>
    {closed ? text.closed : approved ? text.approved : text.notApproved}
  </span>
);
