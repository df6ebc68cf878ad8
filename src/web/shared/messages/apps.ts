// Names of platforms, of callback states and of test apps, and the columns of callbacks.

import { timeText } from "../format";
import type { CallbackState, Platform } from "../types";

export const PLATFORM_NAMES: Record<Platform, string> = { ios: "iOS", android: "Android", web: "Web" };
export const PLATFORMS = Object.keys(PLATFORM_NAMES) as Platform[];

export const CALLBACK_STATE_NAMES: Record<CallbackState, string> = {
  none: "No callback",
  healthy: "Working",
  failing: "Failing",
  disabled: "Switched off",
};

/** The mark of a test app, and of what belongs to one. */
export const TEST_APP = "Test app";
export const TEST = "Test";

/** Columns of the callbacks of apps. */
export const callbacks = {
  app: "App",
  state: "State",
  waiting: "Waiting",
  dead: "Given up",
  since: (at: number) => `since ${timeText(at)}`,
};
