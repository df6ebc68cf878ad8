// The state of an app's callback in a word.

import { endpoints as text } from "../../messages/publishers";
import type { Endpoint } from "../../types/publishers";

export const CallbackBadge = ({ state }: { state: Endpoint["state"] }) => (
  <span class={`badge ${state}`}>{text.states[state] ?? state}</span>
);
