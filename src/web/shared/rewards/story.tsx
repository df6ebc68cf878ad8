// One reward's story: the click, the terms, the amounts, what happened when, and each callback with its tries.

import { Facts, type Fact } from "../components/facts";
import { Name } from "../components/name";
import { NamedId } from "../components/named-id";
import { Section } from "../components/section";
import { amount, countryName, exactTimeText, exactMoney } from "../format";
import { codeText, EVENT_NAMES, STATE_HINTS, story as text } from "../messages/rewards";
import type { RewardStory } from "../types";
import { State } from "./badges";
import { StoryCallback } from "./story-callback";

/** The parts of a story that differ by site. */
interface StorySite {
  /** The path of the list of all rewards of a user. */
  userHref: (user: string) => string;
  /** The path of an offer's page, if the site has one. */
  offerHref?: (offerId: string) => string;
  /** Resends a callback; null if the member may not. */
  replay: ((transactionId: string) => Promise<unknown>) | null;
}

/** True if one of the story's callbacks is still to be sent, so that the story continues. */
export const isWaiting = (story: RewardStory | undefined) =>
  story?.callbacks.some(({ delivery }) => delivery === "waiting") ?? false;

interface Props {
  story: RewardStory;
  site: StorySite;
  reload: () => Promise<unknown>;
}

export function Story({ story, site, reload }: Props) {
  return (
    <>
      <div class="columns story">
        <Summary story={story} site={site} />
        <Click story={story} />
      </div>
      <Timeline story={story} />
      {story.callbacks.length === 0 && <p class="note">{text.noCallbacks}</p>}
      {story.callbacks.map((callback) => (
        <StoryCallback
          key={callback.transaction_id}
          callback={callback}
          currency={story.currency}
          replay={site.replay}
          reload={reload}
        />
      ))}
    </>
  );
}

function Summary({ story, site }: { story: RewardStory; site: StorySite }) {
  const { state, code, user_id: user } = story;
  const offerHref = site.offerHref?.(story.offer_id);
  const offer = <NamedId id={story.offer_id} name={story.offer_name} />;
  return (
    <Facts
      title={text.summary}
      facts={[
        [
          text.state,
          <>
            <State state={state} /> <span class="note">{STATE_HINTS[state]}</span>
          </>,
        ],
        [text.why, code && codeText(code)],
        [text.inWords, story.reason],
        [text.value, `${amount(story.value)} ${story.currency}`],
        [text.payout, exactMoney(Number(story.payout))],
        [
          text.user,
          story.is_erased
            ? text.erased
            : user && (
                <>
                  <Name>{user}</Name>{" "}
                  <a class="note" href={site.userHref(user)}>
                    {text.userLog}
                  </a>
                </>
              ),
        ],
        [text.offer, offerHref ? <a href={offerHref}>{offer}</a> : offer],
        [text.goal, <NamedId id={story.goal_id} name={story.goal_name} />],
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
        ...OWN_VALUES.map((name): Fact => [name, click?.[name]]),
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

/** The values of a click that are the app's own. */
export const OWN_VALUES = ["gaid", "idfa", "c1", "c2", "c3", "c4", "c5"] as const;

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
    <Section title={text.happened}>
      <ol class="timeline card-foot">
        {happened.map(({ at, what }, index) => (
          <li key={index}>
            <time dateTime={new Date(at * 1000).toISOString()}>{exactTimeText(at)}</time> <span>{what}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
