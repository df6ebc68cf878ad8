// The items that wait for a person: the number of each kind, and the list, the oldest first.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isBehind } from "../../../shared/behind";
import { put } from "../../../shared/cache";
import { confirmed } from "../../../shared/change";
import { LinkButton } from "../../../shared/components/button";
import { useQuestion } from "../../../shared/components/form-dialog";
import { Heading } from "../../../shared/components/heading";
import { Empty, Failed, Skeleton, Stale } from "../../../shared/components/states";
import { CardSkeleton, CardTable } from "../../../shared/components/table";
import { count } from "../../../shared/format";
import { lazy } from "../../../shared/lazy";
import { search } from "../../../shared/navigation";
import { oneOf, queryText } from "../../../shared/query-text";
import type { AttentionKind, AttentionList } from "../../../shared/generated/openapi";
import { remove } from "../../api";
import { isAppId } from "../../ids";
import { useAppNames } from "../../app-names";
import { attention as text, KIND_HINTS, KIND_NAMES } from "../../messages/attention";
import { ATTENTION_PATH } from "../../router";
import { tickable, useTicks } from "../../components/ticks";
import { appOf, columns } from "./columns";
import { COUNT_KEY, KINDS, openOf, type Query, useList, WAITING, waitingOf } from "./list";
import { type Asked, isToDecide, keyOf } from "./to-decide";
import type { AttentionItem } from "../../types";

// The code for settling is not in the first script, because most lists have nothing to decide.
const { Lazy } = lazy(() => import("../lazy-views"));

function parseQuery(query: string): Query {
  const values = new URLSearchParams(query);
  const app = values.get("app") ?? "";
  return {
    kind: oneOf(values.get("kind"), KINDS),
    app: isAppId(app) ? app : "",
    cursor: values.get("cursor") ?? "",
  };
}

/** The path of another list. Without values it leads to the first page of all items. */
const href = (query: Partial<Query>) => ATTENTION_PATH + queryText(query);

export function Attention() {
  const query = parseQuery(search.value);
  const { kind, app } = query;
  const cached = useList(query);
  const { data: page, error, reload } = cached;
  // The count in the navigation must not be older than this page.
  useEffect(() => {
    if (page) put(COUNT_KEY, page);
  }, [page]);
  const shown = [app || null, ...(page?.items ?? []).map(appOf)];
  const { nameOf } = useAppNames(shown.filter((id) => id !== null));
  return (
    <>
      <Heading title={text.title} note={text.note}>
        <Live page={page} isStopped={error !== undefined} />
      </Heading>
      {error && !page ? (
        <Failed error={error} retry={reload} />
      ) : (
        <>
          <Stale of={cached} retry={reload} />
          <Kinds query={query} page={page} />
          {(kind || app) && (
            <p class="note list-note">
              {kind && KIND_HINTS[kind]}{" "}
              {app && (
                <>
                  {text.onlyApp(nameOf(app))} <a href={href({ kind })}>{text.everyApp}</a>
                </>
              )}
            </p>
          )}
          {page ? <List page={page} query={query} nameOf={nameOf} reload={reload} /> : <CardSkeleton rows={8} />}
        </>
      )}
    </>
  );
}

function Live({ page, isStopped }: { page: AttentionList | undefined; isStopped: boolean }) {
  if (!page && !isStopped) return null;
  const behind = page?.behind_ms ?? 0;
  const isLate = isBehind(behind);
  return (
    <p class={`live ${isStopped ? "off" : isLate ? "late" : ""}`}>
      <span class="live-mark" aria-hidden="true" />
      {isStopped ? text.stopped : isLate ? text.behind(behind) : text.live}
    </p>
  );
}

/** Tiles for the kinds with open items, and one line for the others. */
function Kinds({ query, page }: { query: Query; page: AttentionList | undefined }) {
  const countOf = (kind: AttentionKind) => page?.counts[kind] ?? 0;
  const quiet = KINDS.filter((kind) => page && countOf(kind) === 0);
  const waiting = WAITING.filter(({ name }) => page?.waiting?.[name]);
  const link = (to: string, content: ComponentChildren, isCurrent = false) => (
    <li key={to}>
      <a href={to} aria-current={isCurrent ? "true" : undefined}>
        {content}
      </a>
    </li>
  );
  const tile = (to: string, name: string, number: number, isCurrent?: boolean) =>
    link(
      to,
      <>
        <span>{name}</span>{" "}
        {page ? <span class="kind-count">{count(number)}</span> : <Skeleton class="kind-skeleton" />}
      </>,
      isCurrent,
    );
  const tileOf = (kind: Query["kind"], name: string, number: number) =>
    tile(href({ kind, app: query.app }), name, number, query.kind === kind);
  return (
    <nav aria-label={text.kinds}>
      <ul class="kinds">
        {tileOf("", text.all, page ? openOf(page) : 0)}
        {KINDS.filter((kind) => !quiet.includes(kind)).map((kind) => tileOf(kind, KIND_NAMES[kind], countOf(kind)))}
        {waiting.map(({ name, href }) => tile(href, text.waiting[name], page?.waiting?.[name] ?? 0))}
      </ul>
      {quiet.length > 0 && (
        <div class="quiet-kinds note">
          <span>{text.nothingOf}</span>
          <ul>{quiet.map((kind) => link(href({ kind, app: query.app }), KIND_NAMES[kind], query.kind === kind))}</ul>
        </div>
      )}
    </nav>
  );
}

interface ListProps {
  page: AttentionList;
  query: Query;
  nameOf: (appId: string) => string;
  reload: () => Promise<unknown>;
}

function List({ page, query, nameOf, reload }: ListProps) {
  const [askToEnd, question] = useQuestion<AttentionItem>((item) => ({
    title: KIND_NAMES[item.kind],
    text: text.reasonText(item.reason),
    button: text.close,
    onConfirm: confirmed(() => remove("/attention/{item_id}", { item_id: item.item_id! }), text.closed, reload),
  }));
  const [asked, setAsked] = useState<Asked | null>(null);
  const ticks = useTicks<AttentionItem>(
    (item) => (isToDecide(item) ? keyOf(item) : null),
    ({ subject }) => text.tick(subject),
  );
  const { kind, app, cursor } = query;
  const { items, behind_ms: behind } = page;
  const open = items.filter(isToDecide);
  const kinds = kind ? [kind] : KINDS;
  // Unlisted items have no count per app, so a list of one app counts none of them.
  const unlisted = app ? 0 : kinds.reduce((sum, each) => sum + (page.not_listed[each] ?? 0), 0);
  const isWell = items.length === 0 && !page.cursor && !cursor && unlisted === 0;
  const list = (
    <>
      {isBehind(behind) && (
        <p class="note list-note" role="status">
          {text.behindHint(behind)}
        </p>
      )}
      {open.length > 0 && (
        <Lazy
          title={text.title}
          view={({ DecideBar }) => <DecideBar items={open} ticks={ticks} onAsk={setAsked} />}
          frame={() => <div class="row decide-bar" />}
        />
      )}
      {items.length > 0 && (
        <CardTable
          name={text.tableName}
          columns={columns(nameOf, askToEnd).map((column, index) => (index === 0 ? tickable(column, ticks) : column))}
          rows={items}
          rowKey={({ kind: of, app_id, publisher_id, subject }) => `${of} ${app_id} ${publisher_id} ${subject}`}
        />
      )}
      {question}
      {unlisted > 0 && !page.cursor && <p class="note list-note">{text.notListed(unlisted)}</p>}
      <div class="row">
        {cursor && <LinkButton href={href({ kind, app })}>{text.first}</LinkButton>}
        {page.cursor && <LinkButton href={href({ kind, app, cursor: page.cursor })}>{text.next}</LinkButton>}
      </div>
    </>
  );
  return (
    <>
      {/* The dialog stays open with its result while the list behind it changes. */}
      {asked && (
        <Lazy
          title={text.title}
          view={({ DecideMany }) => (
            <DecideMany
              {...asked}
              onDone={() => {
                ticks.set(new Set());
                void reload();
              }}
              onClose={() => setAsked(null)}
            />
          )}
          frame={() => null}
        />
      )}
      {isWell ? <Well kind={kind} app={app} behind={behind} hasWaiting={waitingOf(page) > 0} /> : list}
    </>
  );
}

interface WellProps {
  kind: Query["kind"];
  app: string;
  behind: number;
  hasWaiting: boolean;
}

function Well({ kind, app, behind, hasWaiting }: WellProps) {
  if (kind || app) return <Empty title={kind ? text.wellOfKind(KIND_NAMES[kind]) : text.wellTitle} />;
  if (hasWaiting) return <Empty title={text.emptyTitle}>{text.seeAbove}</Empty>;
  return <Empty title={text.wellTitle}>{isBehind(behind) ? text.wellButBehind(behind) : text.well}</Empty>;
}
