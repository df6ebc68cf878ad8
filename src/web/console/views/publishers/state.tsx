// The badge that says whether a publisher is approved, or closed.

import type { KeptPublisher } from "../../../shared/generated/openapi";
import { publishers as text } from "../../messages/publishers";
import { may } from "../../session";

export const mayBeApproved = ({ approved, closed }: KeptPublisher) => may("manage") && !approved && !closed;

export const StateBadge = ({ publisher: { approved, closed } }: { publisher: KeptPublisher }) => (
  <span class={`badge ${closed ? "" : approved ? "approved" : "held"}`}>
    {closed ? text.closed : approved ? text.approved : text.notApproved}
  </span>
);
