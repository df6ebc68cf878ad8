// The contents of a click id, and the rewards of the click.

import type { ComponentChildren } from "preact";
import { useCached } from "../../../shared/cache";
import { Facts, type Fact } from "../../../shared/components/facts";
import { Section } from "../../../shared/components/section";
import { type Column, column, TableOr } from "../../../shared/components/table";
import { countryName, exactTimeText } from "../../../shared/format";
import { revisionText, story } from "../../../shared/messages/rewards";
import { ShortId, State } from "../../../shared/rewards/badges";
import { OWN_VALUES } from "../../../shared/rewards/story";
import { getTagged } from "../../api";
import { useAppNames } from "../../app-names";
import { AppLink } from "../../components/links";
import { search } from "../../messages/search";
import { advertiserPath, offerPath, rewardPath } from "../../router";
import { offerKey } from "../cache-keys";
import { rewardsHref } from "../rewards/filter";
import type { ClickMatch, HiddenClick } from "./matches";

const text = search.click;

export function ClickFound({ match }: { match: ClickMatch }) {
  const { nameOf } = useAppNames();
  const { app_id: app, user_id: user } = match;
  return (
    <>
      <p class="note list-note">{text.note}</p>
      <div class="columns story">
        <Facts
          title={text.title}
          facts={[
            [text.app, <AppLink id={app} name={nameOf(app)} />],
            [story.offer, <a href={offerPath(match.offer_id)}>{match.offer_id}</a>],
            [story.goal, match.goal_id],
            [
              story.user,
              <>
                <bdi>{user}</bdi>{" "}
                <a class="note" href={rewardsHref({ app, user })}>
                  {story.userLog}
                </a>
              </>,
            ],
            [story.clicked, exactTimeText(match.clicked_at)],
            [story.country, match.country && countryName(match.country)],
            [story.placement, match.placement_id],
            ...OWN_VALUES.map((name): Fact => [name, match[name]]),
            [story.terms, text.termsOf(revisionText(match.offer_terms), revisionText(match.app_terms))],
            [text.shard, String(match.shard)],
          ]}
        />
        <Became match={match}>
          {text.nothing} <Postbacks offerId={match.offer_id} />
        </Became>
      </div>
    </>
  );
}

export function HiddenClickFound({ match }: { match: HiddenClick }) {
  const { nameOf } = useAppNames();
  const { app_id: app } = match;
  return (
    <>
      <p class="note list-note">{text.hidden[match.not_shown]}</p>
      <div class="columns story">
        <Facts
          title={text.hiddenTitle[match.not_shown]}
          facts={[
            [text.app, <AppLink id={app} name={nameOf(app)} />],
            [text.shard, String(match.shard)],
          ]}
        />
        <Became match={match}>{text.nothingCame[match.not_shown]}</Became>
      </div>
    </>
  );
}

interface BecameProps {
  match: Pick<ClickMatch, "app_id" | "rewards">;
  /** Shown if the click has no rewards. */
  children: ComponentChildren;
}

const Became = ({ match: { app_id: app, rewards }, children }: BecameProps) => (
  <Section title={text.became}>
    <TableOr none={children} name={text.became} columns={columns(app)} rows={rewards} rowKey="transaction_id" />
  </Section>
);

/** A link to the advertiser's postbacks. The offer names the advertiser. */
function Postbacks({ offerId }: { offerId: string }) {
  const { data: offer } = useCached(offerKey(offerId), () => getTagged("/offers/{offer_id}", { offer_id: offerId }));
  return offer ? (
    <a href={advertiserPath(offer.advertiser_id)}>{text.postbacks(offer.advertiser_id)}</a>
  ) : (
    <a href={offerPath(offerId)}>{text.itsOffer}</a>
  );
}

const columns = (app: string): Column<ClickMatch["rewards"][number]>[] => [
  column("reward", story.summary, ({ transaction_id: id }) => (
    <a href={rewardPath(app, id)}>
      <ShortId id={id} />
    </a>
  )),
  column("goal", story.goal, ({ goal_id }) => goal_id),
  column("state", story.state, ({ state }) => <State state={state} />),
];
