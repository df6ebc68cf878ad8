// One reward's story: the click, the terms, the amounts, what happened when, and each callback with its tries.

import type { ComponentChildren } from "preact";
import { useEffect, useId } from "preact/hooks";
import { api } from "../../api";
import { useCached } from "../../../pages/cache";
import { CopyButton } from "../../../pages/components/copy-button";
import { Heading } from "../../../pages/components/heading";
import { Empty, Failed, Skeleton, Stale } from "../../../pages/components/states";
import { amount, countryName, exactTimeText, smallMoney } from "../../../pages/format";
import { common } from "../../messages";
import { EVENT_NAMES } from "../../messages/apps";
import { codeText, rewards, STATE_HINTS, STATE_NAMES, story as text } from "../../messages/rewards";
import { REWARDS_PATH } from "../../router";
import type { RewardStory } from "../../types";
import { useAppNames } from "../app-names";
import { StoryCallback } from "./story-callback";

const POLL_MILLISECONDS = 5000;

interface Props {
  appId: string;
  transactionId: string;
}

export function Reward({ appId, transactionId }: Props) {
  const cached = useCached(`reward ${appId} ${transactionId}`, () => api.reward(appId, transactionId));
  const { nameOf } = useAppNames();
  const { data: story, error, reload } = cached;
  const isWaiting = story?.callbacks.some(({ delivery }) => delivery === "waiting") ?? false;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => !document.hidden && void reload(), POLL_MILLISECONDS);
    return () => clearInterval(timer);
  }, [isWaiting]);
  return (
    <>
      <Heading
        title={story ? text.title(story.state) : text.loading}
        within={[rewards.title]}
        note={
          <>
            <bdi>{nameOf(appId)}</bdi>, <code>{transactionId}</code>
          </>
        }
      >
        <CopyButton text={() => transactionId} label={`${common.copy} ${text.transaction.toLowerCase()}`} />
        <a class="button" href={`${REWARDS_PATH}?app=${appId}`}>
          {text.toLog}
        </a>
      </Heading>
      {story ? (
        <>
          <Stale of={cached} retry={reload} />
          <Story story={story} reload={reload} />
        </>
      ) : !error ? (
        <Skeleton lines={6} />
      ) : error.status === 404 ? (
        <Empty
          title={text.notFound}
          action={
            <a class="button" href={REWARDS_PATH}>
              {text.toLog}
            </a>
          }
        />
      ) : (
        <Failed error={error} retry={reload} />
      )}
    </>
  );
}

function Story({ story, reload }: { story: RewardStory; reload: () => Promise<void> }) {
  return (
    <>
      <div class="columns story">
        <Summary story={story} />
        <Click story={story} />
      </div>
      <Timeline story={story} />
      {story.callbacks.length === 0 && <p class="note">{text.noCallbacks}</p>}
      {story.callbacks.map((callback) => (
        <StoryCallback
          key={callback.transaction_id}
          appId={story.app_id}
          callback={callback}
          currency={story.currency}
          reload={reload}
        />
      ))}
    </>
  );
}

type Fact = [name: string, value: ComponentChildren];

/** Facts that there are; what is absent is left out. Text of others keeps its signs of direction to itself. */
function Facts({ title, facts }: { title: string; facts: Fact[] }) {
  const id = useId();
  return (
    <section class="card padded" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== null && value !== undefined && value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === "string" ? <bdi>{value}</bdi> : value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

function Summary({ story }: { story: RewardStory }) {
  const { state, code, user_id: user } = story;
  const userLog = user && `${REWARDS_PATH}?app=${story.app_id}#${new URLSearchParams({ user })}`;
  return (
    <Facts
      title={text.summary}
      facts={[
        [
          text.state,
          <>
            <span class={`badge ${state}`}>{STATE_NAMES[state]}</span> <span class="note">{STATE_HINTS[state]}</span>
          </>,
        ],
        [text.why, code && codeText(code)],
        [text.inWords, story.reason],
        [text.value, `${amount(story.value)} ${story.currency}`],
        [text.payout, smallMoney(Number(story.payout))],
        [
          text.user,
          story.is_erased ? (
            text.erased
          ) : (
            user && (
              <>
                <bdi>{user}</bdi>{" "}
                <a class="note" href={userLog!}>
                  {text.userLog}
                </a>
              </>
            )
          ),
        ],
        [text.offer, story.offer_id],
        [text.goal, story.goal_id],
        [text.goalValue, story.goal_value],
        [text.txn, story.txn],
      ]}
    />
  );
}

function Click({ story }: { story: RewardStory }) {
  const { click, terms } = story;
  return (
    <Facts
      title={text.click}
      facts={[
        [text.clicked, exactTimeText(story.click_ts)],
        [text.country, click?.country && countryName(click.country)],
        [text.placement, click?.placement],
        ...(["gaid", "idfa", "c1", "c2", "c3", "c4", "c5"] as const).map((name): Fact => [name, click?.[name]]),
        [
          text.terms,
          terms && (
            <>
              {text.termsOf(terms.offer_at_click, terms.app_at_click)}
              <span class="note">{text.paidBy(terms.offer_paying, terms.is_superseded)}</span>
            </>
          ),
        ],
      ]}
    />
  );
}

interface Step {
  at: number;
  what: string;
}

function Timeline({ story }: { story: RewardStory }) {
  const { steps } = text;
  const isReversed = story.state === "reversed";
  const reversal = story.callbacks.find(({ event }) => event === "reversed");
  const happened: Step[] = [
    { at: story.click_ts, what: steps.click },
    { at: story.received_ts, what: steps.received },
    { at: story.conversion_ts, what: steps.states[isReversed && reversal ? "approved" : story.state] },
    ...(isReversed && reversal ? [{ at: reversal.conversion_ts, what: steps.states.reversed }] : []),
    ...story.callbacks.flatMap(({ event, attempts, next_try_ts: next }) => [
      ...attempts.map(({ at, http_status }) => ({ at, what: steps.tried(EVENT_NAMES[event], http_status) })),
      ...(next ? [{ at: next, what: steps.next(EVENT_NAMES[event]) }] : []),
    ]),
  ].sort((one, other) => one.at - other.at);
  return (
    <section class="card padded" aria-labelledby="happened">
      <h2 id="happened">{text.happened}</h2>
      <ol class="timeline">
        {happened.map(({ at, what }) => (
          <li key={`${at} ${what}`}>
            <time dateTime={new Date(at * 1000).toISOString()}>{exactTimeText(at)}</time> <span>{what}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
