// The page of one reward's story, with what an operator can do about it.

import { useState } from "preact/hooks";
import { Button, DangerButton, LinkButton } from "../../../shared/components/button";
import { CopyButton } from "../../../shared/components/copy-button";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { NotFound } from "../../../shared/components/not-found";
import { Skeleton } from "../../../shared/components/states";
import { common } from "../../../shared/messages";
import { story as storyText } from "../../../shared/messages/rewards";
import { isWaiting, Story } from "../../../shared/rewards/story";
import type { RewardStory } from "../../../shared/generated/openapi";
import { get, post } from "../../api";
import { useAppNames } from "../../app-names";
import { AppLink } from "../../components/links";
import { erase, type Settling, settle, rewards as text } from "../../messages/rewards";
import { CATALOG_POLL_MILLISECONDS, usePolled } from "../../poll";
import { offerPath, publisherPath } from "../../router";
import { may } from "../../session";
import { ACTIONS, rewardsHref } from "./filter";
import { SettleOne } from "./settle-one";
import { say } from "../../../shared/components/status";
import { TypedConfirm } from "../../components/typed-confirm";

interface Props {
  appId: string;
  transactionId: string;
}

export function Reward({ appId, transactionId }: Props) {
  const cached = usePolled(
    `reward ${appId} ${transactionId}`,
    (isPoll) =>
      get(
        "/apps/{app_id}/conversions/{transaction_id}/story",
        { app_id: appId, transaction_id: transactionId },
        isPoll,
      ),
    isWaiting,
    CATALOG_POLL_MILLISECONDS,
  );
  const { nameOf } = useAppNames();
  const { data, reload } = cached;
  const list = rewardsHref({ app: appId });
  return (
    <>
      <Heading
        title={data ? storyText.title(data.state) : storyText.loading}
        within={[text.title]}
        note={
          <>
            <AppLink id={appId} name={nameOf(appId)} />
            {data?.publisher_id && (
              <>
                , <a href={publisherPath(data.publisher_id)}>{data.publisher_id}</a>
              </>
            )}
            , <code>{transactionId}</code>
          </>
        }
      >
        <CopyButton text={() => transactionId} label={`${common.copy} ${storyText.transaction.toLowerCase()}`} />
        <LinkButton href={list}>{text.back}</LinkButton>
      </Heading>
      <Loaded
        of={cached}
        loading={<Skeleton lines={6} />}
        missing={<NotFound title={storyText.notFound} back={{ name: text.back, path: list }} />}
      >
        {(story) => (
          <>
            {may("manage") && <Actions story={story} reload={reload} />}
            <Story
              story={story}
              site={{
                userHref: (user) => rewardsHref({ app: appId, user }),
                offerHref: offerPath,
                replay: may("replay")
                  ? (callback) =>
                      post("/apps/{app_id}/conversions/{transaction_id}/replay", {
                        app_id: appId,
                        transaction_id: callback,
                      })
                  : null,
              }}
              reload={reload}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

function Actions({ story, reload }: { story: RewardStory; reload: () => Promise<unknown> }) {
  const { app_id: appId, transaction_id: transactionId, user_id: user } = story;
  const [open, setOpen] = useState<Settling | "erase" | null>(null);
  // After a user is erased, no receiver can be told about the user's reward, so nothing can be done with it.
  const actions = story.is_erased ? [] : (ACTIONS[story.state] ?? []);
  const close = () => setOpen(null);
  if (actions.length === 0 && !user) return null;
  return (
    <div class="row many">
      {actions.map((action, index) => (
        <Button
          key={action}
          class={index === 0 && action === "approve" ? "button primary" : "button"}
          onClick={() => setOpen(action)}
        >
          {settle.names[action]}…
        </Button>
      ))}
      {user && <DangerButton onClick={() => setOpen("erase")}>{erase.button}…</DangerButton>}
      {open === "erase"
        ? user && <EraseUser appId={appId} userId={user} onClose={close} reload={reload} />
        : open && <SettleOne {...{ appId, transactionId, action: open, reload }} onClose={close} />}
    </div>
  );
}

interface EraseProps {
  appId: string;
  userId: string;
  onClose: () => void;
  reload: () => Promise<unknown>;
}

/** Erases a user of an app, after the user id was typed to confirm it. */
const EraseUser = ({ appId, userId, onClose, reload }: EraseProps) => (
  <TypedConfirm
    title={erase.title}
    text={erase.text}
    button={erase.button}
    what={erase.what}
    id={userId}
    onConfirm={async () => {
      const { erased, waiting } = await post("/apps/{app_id}/erase_user", { app_id: appId }, { user_id: userId });
      onClose();
      say(erase.done(erased, waiting));
      await reload();
    }}
    onClose={onClose}
  />
);
