// Rewards by day and app, and the state of each app's callback.

import { api } from "../api";
import { type CachedView, useCached } from "../../shared/cache";
import type { Activity } from "../types";

export const ACTIVITY_KEY = "activity";

/** Without `isWanted` nothing is asked yet. */
export const useActivity = (isWanted = true): CachedView<Activity> =>
  useCached(isWanted ? ACTIVITY_KEY : null, api.activity);
