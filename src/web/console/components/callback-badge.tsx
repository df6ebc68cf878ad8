// The state of an app's callback in a word.

import { CALLBACK_STATE_NAMES } from "../messages/apps";
import type { CallbackState } from "../types/apps";

export const CallbackBadge = ({ state }: { state: CallbackState }) => (
  <span class={`badge ${state}`}>{CALLBACK_STATE_NAMES[state]}</span>
);
