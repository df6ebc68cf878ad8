// The page of one reward's story.

import { useCached } from "../../../shared/cache";
import { LinkButton } from "../../../shared/components/button";
import { CopyButton } from "../../../shared/components/copy-button";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { Name } from "../../../shared/components/name";
import { NotFound } from "../../../shared/components/not-found";
import { Skeleton } from "../../../shared/components/states";
import { TEST } from "../../../shared/messages/apps";
import { story as text } from "../../../shared/messages/rewards";
import { usePolling } from "../../../shared/poll";
import { isWaiting, Story } from "../../../shared/rewards/story";
import { isTestReward, TestTag } from "../../../shared/test-apps";
import { get, post } from "../../api";
import { common } from "../../messages";
import { rewards } from "../../messages/rewards";
import { REWARDS_PATH } from "../../router";
import { may } from "../../session";
import { useAppNames } from "../app-names";

const POLL_MILLISECONDS = 5000;

interface Props {
  appId: string;
  transactionId: string;
}

export function Reward({ appId, transactionId }: Props) {
  const key = `reward ${appId} ${transactionId}`;
  const cached = useCached(key, () =>
    get("/apps/{app_id}/rewards/{transaction_id}", { app_id: appId, transaction_id: transactionId }),
  );
  usePolling({ key, of: cached, changes: isWaiting, milliseconds: POLL_MILLISECONDS });
  const { nameOf } = useAppNames();
  const { data } = cached;
  const userHref = (user: string) => `${REWARDS_PATH}?app=${appId}#${new URLSearchParams({ user })}`;
  const replay = (transaction_id: string) =>
    post("/apps/{app_id}/rewards/{transaction_id}/replay", { app_id: appId, transaction_id });
  return (
    <>
      <Heading
        title={data ? text.title(data.state) : text.loading}
        within={[rewards.title]}
        note={
          <>
            <Name>{nameOf(appId)}</Name>, <code>{transactionId}</code>
            <TestTag of={isTestReward(transactionId)} name={TEST} />
          </>
        }
      >
        <CopyButton text={() => transactionId} label={`${common.copy} ${text.transaction.toLowerCase()}`} />
        <LinkButton href={`${REWARDS_PATH}?app=${appId}`}>{rewards.toLog}</LinkButton>
      </Heading>
      <Loaded
        of={cached}
        loading={<Skeleton lines={6} />}
        missing={<NotFound title={text.notFound} back={{ name: rewards.toLog, path: REWARDS_PATH }} />}
      >
        {(story) => (
          <Story story={story} site={{ userHref, replay: may("replay") ? replay : null }} reload={cached.reload} />
        )}
      </Loaded>
    </>
  );
}
