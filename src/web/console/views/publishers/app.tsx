// One app: its stored document, the operator's decisions for it, its callback, and the comparison of a day.

import { useCached } from "../../../shared/cache";
import { CopyButton } from "../../../shared/components/copy-button";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { NotFound } from "../../../shared/components/not-found";
import { Beside } from "../../../shared/components/side";
import { PLATFORM_NAMES, TEST_APP } from "../../../shared/messages/apps";
import { isTestApp, TestTag } from "../../../shared/test-apps";
import { getTagged } from "../../api";
import { Reconcile } from "../../components/reconcile";
import { common } from "../../messages";
import { app as text } from "../../messages/apps";
import { appPath, publisherPath, PUBLISHERS_PATH, REWARDS_PATH } from "../../router";
import { AppCallback } from "./app-callback";
import { AppDocument } from "./app-document";
import { Decisions } from "./app-decisions";
import { Terms } from "./app-terms";
import { appKey } from "../cache-keys";

const BACK = { name: text.toList, path: PUBLISHERS_PATH };

export function App({ appId }: { appId: string }) {
  const cached = useCached(appKey(appId), () => getTagged("/apps/{app_id}", { app_id: appId }));
  const { data, reload } = cached;
  const links = [
    { name: text.settings, path: appPath(appId), isCurrent: true },
    { name: text.rewards, path: `${REWARDS_PATH}?app=${appId}` },
    ...(data ? [{ name: text.toPublisher, path: publisherPath(data.publisher_id) }] : []),
  ];
  return (
    <Beside label={text.nav} links={links} back={BACK}>
      <Heading
        title={data?.name ?? text.title}
        within={[text.title]}
        note={
          <>
            {text.appId} <code>{appId}</code>
            {data && `, ${PLATFORM_NAMES[data.platform]}`}
            <TestTag of={isTestApp(appId)} name={TEST_APP} />
          </>
        }
      >
        <CopyButton text={() => appId} label={`${common.copy} ${text.appId}`} />
      </Heading>
      <Loaded of={cached} missing={<NotFound title={text.notFound} back={BACK} />}>
        {(app) => (
          <>
            <AppCallback app={app} />
            <AppDocument app={app} />
            <Decisions app={app} reload={reload} />
            <Terms app={app} reload={reload} />
            <Reconcile appId={appId} />
          </>
        )}
      </Loaded>
    </Beside>
  );
}
