// Rewards by day and app, and the state of each app's callback.

import { get } from "../api";
import { type CachedView, useCached } from "../../shared/cache";
import type { Activity } from "../types";

export const ACTIVITY_KEY = "activity";

/** Requests nothing while `isWanted` is false. */
export const useActivity = (isWanted = true): CachedView<Activity> =>
  useCached(isWanted ? ACTIVITY_KEY : null, () => get("/activity", {}));
