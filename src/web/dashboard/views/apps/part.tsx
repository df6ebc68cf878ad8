// One part of an app's settings.

import { put, refresh } from "../../../shared/cache";
import { type Draft, useDraft as usePart } from "../../../shared/components/part";
import type { Writes } from "../../../shared/use-merged";
import { api } from "../../api";
import type { App, AppChange } from "../../types";
import { appKey, APPS_KEY } from "./keys";

export { Card, PartForm } from "../../../shared/components/part";

export interface PartProps {
  app: App;
  reload: () => Promise<unknown>;
}

/** Shows a changed app here and in the list. */
function show(app: App) {
  put(appKey(app.app_id), app);
  void refresh(APPS_KEY);
}

interface DraftOptions<Values> {
  app: App;
  /** The values as they are saved. */
  saved: Values;
  /** The fields of the API that this part shows. */
  fields: string[];
  names: Record<string, string>;
  writes?: Writes;
  change: (values: Values) => AppChange;
  onSaved?: (app: App) => void;
}

export function useDraft<Values>({ app, change, onSaved, ...own }: DraftOptions<Values>): Draft<Values> {
  return usePart({
    ...own,
    save: async (values) => {
      const changed = await api.changeApp(app.app_id, app.revision, change(values));
      show(changed);
      onSaved?.(changed);
    },
  });
}
