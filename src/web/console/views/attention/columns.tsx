// Columns of open items.

import { RowButton } from "../../../shared/components/row-button";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { dateText, exactTimeText } from "../../../shared/format";
import { queryText } from "../../../shared/query-text";
import { ShortId } from "../../../shared/rewards/badges";
import type { AttentionKind } from "../../../shared/generated/openapi";
import { AppLink } from "../../components/links";
import { attention as text, KIND_NAMES } from "../../messages/attention";
import { appPath, offerPath, publisherPath, rewardPath, SERVICE_PATH } from "../../router";
import { may, nowMilliseconds } from "../../session";
import type { AttentionItem } from "../../types";

/** Kinds whose subject is a transaction id. */
const OF_REWARD: AttentionKind[] = ["held", "capped", "dead"];

/** Kinds that are fixed on the app's page. */
const OF_APP: AttentionKind[] = ["disabled", "failing", "near_limit"];

/** Kinds whose subject is a day of a publisher. */
const OF_FACTS: AttentionKind[] = ["unconfirmed", "facts_late"];

const isOfReward = ({ kind, app_id }: AttentionItem) => OF_REWARD.includes(kind) && app_id !== null;

/** The app of an item. An outbox has the App-Id of its app in its name. */
export const appOf = ({ app_id: app, subject }: AttentionItem): string | null =>
  app ?? /^outbox-([0-9]{8})-[0-9]+$/.exec(subject)?.[1] ?? null;

/** The publisher of an item's day. Counters serve all publishers, so their subjects begin with the publisher. */
function publisherOf({ kind, app_id: app, publisher_id: publisher, subject }: AttentionItem): string | null {
  if (OF_FACTS.includes(kind) || kind === "restored") return publisher;
  return (kind === "differs" && app === null && /^([A-Za-z0-9-]+): /.exec(subject)?.[1]) || null;
}

/** The page on which the item is fixed. */
function repairHref(item: AttentionItem): string {
  const { kind, subject, since_ms: since } = item;
  const app = appOf(item);
  const publisher = publisherOf(item);
  if (publisher !== null) {
    const section = item.reason === "account_restored" ? "people" : "facts";
    return publisherPath(publisher) + queryText({ section });
  }
  if (kind === "restored") return SERVICE_PATH;
  if (app !== null && isOfReward(item)) return rewardPath(app, subject);
  if (app !== null && OF_APP.includes(kind)) return appPath(app);
  if (app !== null && kind === "terms_lost") {
    const offer = /^offer (\S+) \d+$/.exec(subject)?.[1];
    return offer === undefined ? appPath(app) : offerPath(offer);
  }
  // The subject of a `differs` item ends with the day.
  if (app !== null && kind === "differs")
    return appPath(app) + queryText({ date: /\d{4}-\d{2}-\d{2}$/.exec(subject)?.[0] });
  // The sums belong to this day or to the day before.
  const date = new Date(since).toISOString().slice(0, 10);
  return app === null ? SERVICE_PATH : SERVICE_PATH + queryText({ app, date });
}

const BADGES: Record<AttentionKind, string> = {
  held: "held",
  capped: "held",
  dead: "dead",
  disabled: "disabled",
  failing: "failing",
  near_limit: "held",
  batch_refused: "dead",
  batch_late: "failing",
  differs: "dead",
  unconfirmed: "held",
  terms_lost: "dead",
  restored: "held",
  facts_late: "held",
};

/** The name that distinguishes an item from others of its kind. */
function subjectOf(item: AttentionItem, nameOf: (appId: string) => string): string {
  const { kind, app_id: app, publisher_id: publisher, subject } = item;
  if (OF_FACTS.includes(kind)) return `${publisher}, ${dateText(subject)}`;
  return app !== null && (kind === "disabled" || kind === "failing") ? nameOf(app) : subject;
}

/** `end` opens the question whether to end an item that stays until a person ends it. */
export const columns = (
  nameOf: (appId: string) => string,
  end?: (item: AttentionItem) => void,
): Column<AttentionItem>[] => [
  column("kind", text.kind, (item) => (
    <>
      <span class={`badge ${BADGES[item.kind] ?? ""}`}>{KIND_NAMES[item.kind] ?? item.kind}</span>
      {item.kind !== "disabled" && item.kind !== "failing" && (
        <span class="cell-second wrap">
          {isOfReward(item) ? <ShortId id={item.subject} /> : <code>{item.subject}</code>}
        </span>
      )}
    </>
  )),
  column("app", text.app, (item) => {
    const app = appOf(item);
    const publisher = publisherOf(item);
    if (publisher !== null) return <a href={publisherPath(publisher)}>{publisher}</a>;
    return app !== null && <AppLink id={app} name={nameOf(app)} />;
  }),
  column("since", text.since, ({ since_ms: since }) => (
    <>
      <span>{text.ago(Math.max(0, nowMilliseconds() - since))}</span>
      <time class="cell-second" dateTime={new Date(since).toISOString()}>
        {exactTimeText(since / 1000)}
      </time>
    </>
  )),
  column("reason", text.reason, ({ reason, bytes }) => (
    <span class="wrap">{bytes === undefined ? text.reasonText(reason) : text.of10(bytes)}</span>
  )),
  numberColumn(
    "amount",
    text.amount,
    ({ payout_usd: payout }) => payout !== undefined && text.amountOf(Number(payout)),
  ),
  {
    key: "repair",
    header: text.repair,
    isHeaderHidden: true,
    cell: (item) => {
      const isOfApp = item.kind === "near_limit" && appOf(item) !== null;
      const isOfFacts = publisherOf(item) !== null && item.kind !== "restored";
      const kind = isOfApp ? "failing" : isOfFacts ? "unconfirmed" : item.kind;
      const repair = text.repairs[kind] ?? text.repair;
      return (
        <>
          <a class="button small" href={repairHref(item)} aria-label={text.repairOf(repair, subjectOf(item, nameOf))}>
            {repair}
          </a>
          {end && item.item_id !== undefined && may("manage") && (
            <RowButton name={text.close} label={text.repairOf(text.close, item.subject)} onClick={() => end(item)} />
          )}
        </>
      );
    },
  },
];
