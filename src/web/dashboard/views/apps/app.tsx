// One app: its settings, each part with its own save, and the tester of its callback.

import { get } from "../../api";
import { useCached } from "../../../shared/cache";
import { apps as text } from "../../messages/apps";
import { Blocked } from "./blocked";
import { Callback } from "./callback";
import { Clicks } from "./clicks";
import { Fallback } from "./fallback";
import { AppFrame } from "./frame";
import { General } from "./general";
import { appKey } from "./keys";
import { TestLoop } from "./test-loop";
import { Tester } from "./tester";

export function App({ appId }: { appId: string }) {
  const cached = useCached(appKey(appId), () => get("/apps/{app_id}", { app_id: appId }));
  const { data, reload } = cached;
  return (
    <AppFrame appId={appId} app={cached} current="settings" note={data && text.idNote(data.platform)}>
      {(app) => (
        <>
          {app.test && <TestLoop app={app} />}
          <General app={app} reload={reload} />
          <Callback app={app} reload={reload} />
          {app.callback && <Tester key={app.callback.url} app={app} />}
          <Clicks app={app} reload={reload} />
          <Fallback app={app} reload={reload} />
          <Blocked app={app} reload={reload} />
        </>
      )}
    </AppFrame>
  );
}
