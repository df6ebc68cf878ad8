// The page of one reward's story.

import { useCached } from "../../../shared/cache";
import { CopyButton } from "../../../shared/components/copy-button";
import { Heading } from "../../../shared/components/heading";
import { Name } from "../../../shared/components/name";
import { Empty, Failed, Skeleton, Stale } from "../../../shared/components/states";
import { story as text } from "../../../shared/messages/rewards";
import { usePolling } from "../../../shared/poll";
import { isWaiting, Story } from "../../../shared/rewards/story";
import { api } from "../../api";
import { common } from "../../messages";
import { rewards } from "../../messages/rewards";
import { REWARDS_PATH } from "../../router";
import { may, session } from "../../session";
import { useAppNames } from "../app-names";

const POLL_MILLISECONDS = 5000;

interface Props {
  appId: string;
  transactionId: string;
}

export function Reward({ appId, transactionId }: Props) {
  const key = `reward ${appId} ${transactionId}`;
  const cached = useCached(key, () => api.reward(appId, transactionId));
  usePolling({ key, of: cached, changes: isWaiting, milliseconds: POLL_MILLISECONDS });
  const { nameOf } = useAppNames();
  const { data: story, error, reload } = cached;
  const role = session.value?.member.role;
  const mayReplay = role !== undefined && may(role, "replay");
  const userHref = (user: string) => `${REWARDS_PATH}?app=${appId}#${new URLSearchParams({ user })}`;
  const replay = (callbackId: string) => api.replayReward(appId, callbackId);
  return (
    <>
      <Heading
        title={story ? text.title(story.state) : text.loading}
        within={[rewards.title]}
        note={
          <>
            <Name>{nameOf(appId)}</Name>, <code>{transactionId}</code>
          </>
        }
      >
        <CopyButton text={() => transactionId} label={`${common.copy} ${text.transaction.toLowerCase()}`} />
        <a class="button" href={`${REWARDS_PATH}?app=${appId}`}>
          {rewards.toLog}
        </a>
      </Heading>
      {story ? (
        <>
          <Stale of={cached} retry={reload} />
          <Story story={story} site={{ userHref, replay: mayReplay ? replay : null }} reload={reload} />
        </>
      ) : !error ? (
        <Skeleton lines={6} />
      ) : error.status === 404 ? (
        <Empty
          title={text.notFound}
          action={
            <a class="button" href={REWARDS_PATH}>
              {rewards.toLog}
            </a>
          }
        />
      ) : (
        <Failed error={error} retry={reload} />
      )}
    </>
  );
}
