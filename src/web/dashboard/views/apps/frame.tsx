// The frame of an app's pages: its name and App-Id, and the ways to its other pages.

import type { ComponentChildren } from "preact";
import type { CachedView } from "../../../shared/cache";
import { useCached } from "../../../shared/cache";
import { CopyButton } from "../../../shared/components/copy-button";
import { Heading } from "../../../shared/components/heading";
import { Empty, Failed, Refused, Skeleton } from "../../../shared/components/states";
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
  children: ComponentChildren;
}

export function AppFrame({ appId, app, current, note, children }: Props) {
  const { data: overview } = useCached(OVERVIEW_KEY, loadOverview);
  const role = overview?.member.role;
  const isRefused = role !== undefined && !may(role, "app_settings");
  const pages = [
    { name: text.settings, path: appPath(appId), page: "settings" },
    { name: text.offers, path: offersPath(appId), page: "offers" },
    { name: text.log, path: `${REWARDS_PATH}?app=${appId}`, page: "log" },
  ];
  const name = app.data?.name ?? text.title;
  return (
    <div class="settings">
      <nav class="side" aria-label={text.nav}>
        <ul>
          {pages.map(({ name, path, page }) => (
            <li key={page}>
              <a href={path} aria-current={page === current ? "page" : undefined}>
                {name}
              </a>
            </li>
          ))}
          <li class="separate">
            <a href={APPS_PATH}>{text.toList}</a>
          </li>
        </ul>
      </nav>
      <div class="section">
        <Heading
          title={current === "offers" && app.data ? `${name}: ${text.offers}` : name}
          within={[text.title]}
          note={
            <>
              {text.appId} <code>{appId}</code>
              {note && `, ${note}`}
            </>
          }
        >
          <CopyButton text={() => appId} label={`${common.copy} ${text.appId}`} />
        </Heading>
        {isRefused ? (
          <Refused />
        ) : app.data ? (
          children
        ) : !app.error ? (
          <Skeleton lines={5} />
        ) : app.error.status === 404 ? (
          <Empty
            title={text.notFound}
            action={
              <a class="button" href={APPS_PATH}>
                {text.toList}
              </a>
            }
          />
        ) : (
          <Failed error={app.error} retry={app.reload} />
        )}
      </div>
    </div>
  );
}
