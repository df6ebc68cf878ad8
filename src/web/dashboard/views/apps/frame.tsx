// The frame of an app's pages: its name and App-Id, and the links to its other pages.

import type { ComponentChildren } from "preact";
import { type CachedView, useCached } from "../../../shared/cache";
import { CopyButton } from "../../../shared/components/copy-button";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { NotFound } from "../../../shared/components/not-found";
import { Beside } from "../../../shared/components/side";
import { Refused } from "../../../shared/components/states";
import { TEST_APP } from "../../../shared/messages/apps";
import { isTestApp, TestTag } from "../../../shared/test-apps";
import { common } from "../../messages";
import { apps as text } from "../../messages/apps";
import { appPath, APPS_PATH, offersPath, REWARDS_PATH } from "../../router";
import { loadOverview, may, OVERVIEW_KEY } from "../../session";
import type { App } from "../../types";

interface Props {
  appId: string;
  app: CachedView<App>;
  current: "settings" | "offers";
  note?: string;
  children: (app: App) => ComponentChildren;
}

const BACK = { name: text.toList, path: APPS_PATH };

export function AppFrame({ appId, app, current, note, children }: Props) {
  const { data: overview } = useCached(OVERVIEW_KEY, loadOverview);
  const isRefused = overview !== undefined && !may("app_settings");
  const pages = [
    { name: text.settings, path: appPath(appId), isCurrent: current === "settings" },
    { name: text.offers, path: offersPath(appId), isCurrent: current === "offers" },
    { name: text.log, path: `${REWARDS_PATH}?app=${appId}` },
  ];
  const name = app.data?.name ?? text.title;
  return (
    <Beside label={text.nav} links={pages} back={BACK}>
      <Heading
        title={current === "offers" && app.data ? `${name}: ${text.offers}` : name}
        within={[text.title]}
        note={
          <>
            {text.appId} <code>{appId}</code>
            {note && `, ${note}`}
            <TestTag of={isTestApp(appId)} name={TEST_APP} />
          </>
        }
      >
        <CopyButton text={() => appId} label={`${common.copy} ${text.appId}`} />
      </Heading>
      {isRefused ? (
        <Refused />
      ) : (
        <Loaded of={app} missing={<NotFound title={text.notFound} back={BACK} />}>
          {children}
        </Loaded>
      )}
    </Beside>
  );
}
