// The postback doctor: the newest postbacks of an advertiser, or the refused ones of all, each with its result and its
// remedy.

import { Button, LinkButton } from "../../../shared/components/button";
import { InlineSelect } from "../../../shared/components/field";
import { Loaded } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { type Column, column, Table, TableSkeleton } from "../../../shared/components/table";
import { exactTimeText } from "../../../shared/format";
import { setSearch } from "../../../shared/navigation";
import { queryText } from "../../../shared/query-text";
import { advertisers, CODE_NAMES, codeName, refused, doctor as text } from "../../messages/advertisers";
import { NamedLink } from "../../components/links";
import { advertiserPath, offerPath, rewardPath, ADVERTISERS_PATH } from "../../router";
import { type Postback, type PostbackList, usePostbacks } from "./use-postbacks";
import { CodeBadge, Parameters, Words } from "./verdict";
import { Heading } from "../../../shared/components/heading";
import { useAdvertisers } from "../use-advertisers";

interface Props {
  list: PostbackList;
  /** For the postbacks of all advertisers: the name of an advertiser. */
  nameOf?: (advertiserId: string) => string;
}

export function Postbacks({ list: { code, pages }, nameOf }: Props) {
  const { first, rows, isOnlyFirst } = pages;
  const words = nameOf ? refused : text;
  const columns = nameOf ? [...COLUMNS.slice(0, 2), advertiserColumn(nameOf), ...COLUMNS.slice(2)] : COLUMNS;
  const show = (chosen: string) => setSearch(queryText({ code: chosen }), "replace");
  const codes = Object.keys(CODE_NAMES).filter((known) => !nameOf || !UNLISTED.includes(known));
  if (code && !codes.includes(code)) codes.push(code);
  return (
    <section class="card table-card" aria-labelledby="postbacks">
      <div class="card-head">
        <div>
          <h2 id="postbacks" class={nameOf && "visually-hidden"}>
            {words.title}
          </h2>
          <p class="note">{words.intro}</p>
        </div>
        <div class="card-tools">
          <InlineSelect
            label={text.code}
            value={code}
            options={codes}
            nameOf={codeName}
            any={text.allCodes}
            onChange={show}
          />
        </div>
      </div>
      <Loaded of={pages.list} loading={<TableSkeleton rows={4} />} isCompact>
        {(shown) =>
          shown.length === 0 ? (
            <div class="state compact">
              <h3>{code ? text.noneTitle : words.emptyTitle}</h3>
              {!code && <p>{words.empty}</p>}
              {code && <Button onClick={() => show("")}>{text.clear}</Button>}
            </div>
          ) : (
            <Table name={words.title} columns={columns} rows={keyed(shown)} rowKey="key" />
          )
        }
      </Loaded>
      {rows && (
        <div class="card-foot padded-top">
          <div class="row">
            <More of={pages} label={text.more} />
            <p class="note">
              {rows.length > 0 && text.shown(rows.length)}
              {rows.length > 0 && `. ${!isOnlyFirst ? text.kept : first.error ? text.stopped : text.live}`}
            </p>
          </div>
          {first.data!.not_shown > 0 && <p class="note">{text.notShown(first.data!.not_shown, first.data!.since)}</p>}
        </div>
      )}
    </section>
  );
}

/** The codes that the list of all advertisers leaves out: accepted and held postbacks, spent caps and faults. */
const UNLISTED = [
  ...["approved", "pending", "rejected", "reversed", "duplicate"],
  ...["after_restore", "suspended", "too_fast", "too_many_today"],
  ...["conversion_capped", "unavailable", "internal_error"],
];

type Keyed = Postback & { key: string };

/**
 * Adds a key to each row: its time, and its index among the rows of that time. New rows do not change the keys of older
 * rows, so an open row stays open.
 */
function keyed(rows: Postback[]): Keyed[] {
  const seen = new Map<number, number>();
  return [...rows]
    .reverse()
    .map((row) => {
      const place = seen.get(row.at) ?? 0;
      seen.set(row.at, place + 1);
      return { ...row, key: `${row.at} ${place}` };
    })
    .reverse();
}

const advertiserColumn = (nameOf: (advertiserId: string) => string): Column<Keyed> =>
  column(
    "advertiser",
    advertisers.advertiser,
    ({ advertiser_id: id }) => id && <NamedLink path={advertiserPath(id)} id={id} name={nameOf(id)} />,
  );

const COLUMNS: Column<Keyed>[] = [
  column("at", text.at, ({ at }) => exactTimeText(Math.floor(at))),
  column("answer", text.answer, ({ http_status: status, code, method }) => (
    <span class="lines">
      <CodeBadge status={status} code={code} />
      <span class="note">
        {method}, {status}
      </span>
    </span>
  )),
  // The header is an element, because on a narrow screen a header that is a string becomes a label. Without a label,
  // the verdict gets the whole row.
  column("verdict", <span>{text.verdict}</span>, ({ http_status: status, verdict, remedy, parameters }) => (
    <div class="postback-verdict">
      <Words status={status} verdict={verdict} remedy={remedy} />
      {parameters.length === 0 ? (
        <p class="note">{text.noParameters}</p>
      ) : (
        <details>
          <summary>{text.parameters(parameters.length)}</summary>
          <Parameters name={text.parameters(parameters.length)} parameters={parameters} />
        </details>
      )}
    </div>
  )),
  // Without an authentic click ID the offer is unknown.
  column(
    "about",
    text.about,
    ({ offer_id, goal_id, app_id, transaction_id }) =>
      offer_id && (
        <span class="lines">
          <a href={offerPath(offer_id)}>
            {text.offer} {offer_id}
          </a>
          {goal_id && <span class="note">{text.goal(goal_id)}</span>}
          {app_id && transaction_id && <a href={rewardPath(app_id, transaction_id)}>{text.reward}</a>}
        </span>
      ),
  ),
];

/** The newest refused postbacks of all advertisers. */
export function RefusedPostbacks() {
  const postbacks = usePostbacks(null);
  const { nameOf } = useAdvertisers();
  return (
    <>
      <Heading title={refused.title} within={[advertisers.title]}>
        <LinkButton href={ADVERTISERS_PATH}>{advertisers.toList}</LinkButton>
      </Heading>
      <Postbacks list={postbacks} nameOf={nameOf} />
    </>
  );
}
