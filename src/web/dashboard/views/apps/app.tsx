// One app: its settings, each part with its own save, and the tester of its callback.

import { api } from "../../api";
import { useCached } from "../../../shared/cache";
import { Stale } from "../../../shared/components/states";
import { apps as text } from "../../messages/apps";
import { Blocked } from "./blocked";
import { Callback } from "./callback";
import { Clicks } from "./clicks";
import { Fallback } from "./fallback";
import { AppFrame } from "./frame";
import { General } from "./general";
import { appKey } from "./keys";
import { Tester } from "./tester";

export function App({ appId }: { appId: string }) {
  const cached = useCached(appKey(appId), () => api.app(appId));
  const app = cached.data;
  return (
    <AppFrame appId={appId} app={cached} current="settings" note={app && text.idNote(app.platform)}>
      {app && (
        <>
          <Stale of={cached} retry={cached.reload} />
          <General app={app} reload={cached.reload} />
          <Callback app={app} reload={cached.reload} />
          {app.callback && <Tester app={app} />}
          <Clicks app={app} reload={cached.reload} />
          <Fallback app={app} reload={cached.reload} />
          <Blocked app={app} reload={cached.reload} />
        </>
      )}
    </AppFrame>
  );
}
