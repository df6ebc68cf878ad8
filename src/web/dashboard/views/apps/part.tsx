// One part of an app's settings.

import { put, refresh } from "../../../shared/cache";
import { type Draft, type DraftOptions, useDraft as usePart } from "../../../shared/components/part";
import { changeApp } from "../../api";
import type { App, OwnAppChange } from "../../types";
import { appKey, APPS_KEY } from "./keys";

export { Card, PartForm } from "../../../shared/components/part";

export interface PartProps {
  app: App;
  reload: () => Promise<unknown>;
}

interface AppDraftOptions<Values> extends Omit<DraftOptions<Values>, "save"> {
  app: App;
  change: (values: Values) => OwnAppChange;
  onSaved?: (app: App) => void;
}

export function useDraft<Values>({ app, change, onSaved, ...own }: AppDraftOptions<Values>): Draft<Values> {
  return usePart({
    ...own,
    save: async (values) => {
      const changed = await changeApp(app, change(values));
      put(appKey(changed.app_id), changed);
      void refresh(APPS_KEY);
      onSaved?.(changed);
    },
  });
}
