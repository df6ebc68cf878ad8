// One app: how it is kept, what the operator decides for it, its callback, and a day's comparison.

import { useCached } from "../../../shared/cache";
import { CopyButton } from "../../../shared/components/copy-button";
import { Heading } from "../../../shared/components/heading";
import { Empty, Failed, Skeleton, Stale } from "../../../shared/components/states";
import { appsApi as api } from "../../api/apps";
import { Reconcile } from "../../components/reconcile";
import { common } from "../../messages";
import { app as text, PLATFORM_NAMES } from "../../messages/apps";
import { appPath, publisherPath, PUBLISHERS_PATH, REWARDS_PATH } from "../../router";
import { AppCallback } from "./app-callback";
import { AppDocument } from "./app-document";
import { Decisions } from "./app-decisions";
import { Terms } from "./app-terms";
import { appKey } from "../cache-keys";

export function App({ appId }: { appId: string }) {
  const cached = useCached(appKey(appId), () => api.read(appId));
  const { data: app, error, reload } = cached;
  const links = [
    { name: text.settings, path: appPath(appId), isCurrent: true },
    { name: text.rewards, path: `${REWARDS_PATH}?app=${appId}` },
    ...(app ? [{ name: text.toPublisher, path: publisherPath(app.publisher_id) }] : []),
  ];
  return (
    <div class="settings">
      <nav class="side" aria-label={text.nav}>
        <ul>
          {links.map(({ name, path, isCurrent }) => (
            <li key={name}>
              <a href={path} aria-current={isCurrent ? "page" : undefined}>
                {name}
              </a>
            </li>
          ))}
          <li class="separate">
            <a href={PUBLISHERS_PATH}>{text.toList}</a>
          </li>
        </ul>
      </nav>
      <div class="section">
        <Heading
          title={app?.name ?? text.title}
          within={[text.title]}
          note={
            <>
              {text.appId} <code>{appId}</code>
              {app && `, ${PLATFORM_NAMES[app.platform]}`}
            </>
          }
        >
          <CopyButton text={() => appId} label={`${common.copy} ${text.appId}`} />
        </Heading>
        {app ? (
          <>
            <Stale of={cached} retry={reload} />
            <AppCallback app={app} />
            <AppDocument app={app} />
            <Decisions app={app} reload={reload} />
            <Terms app={app} reload={reload} />
            <Reconcile appId={appId} />
          </>
        ) : !error ? (
          <Skeleton lines={5} />
        ) : error.status === 404 ? (
          <Empty
            title={text.notFound}
            action={
              <a class="button" href={PUBLISHERS_PATH}>
                {text.toList}
              </a>
            }
          />
        ) : (
          <Failed error={error} retry={reload} />
        )}
      </div>
    </div>
  );
}
