// Callbacks that fail or are switched off. Each page asks its apps, so further ones are asked for by a button only.

import { useCached } from "../../../pages/cache";
import { More } from "../../../pages/components/more";
import { type Column, Table } from "../../../pages/components/table";
import { count, exactTimeText } from "../../../pages/format";
import { common } from "../../../pages/messages";
import { type Pages, usePages } from "../../../pages/use-pages";
import { attention } from "../../api/attention";
import { serviceApi } from "../../api/service";
import { useAppNames } from "../../app-names";
import { CallbackBadge } from "../../components/callback-badge";
import { service } from "../../messages/service";
import { appPath } from "../../router";
import type { AttentionItem, AttentionKind } from "../../types/attention";
import type { Endpoint } from "../../types/service";
import { useAnswers } from "../../use-answers";
import { rewardsHref } from "../rewards/filter";
import { Section } from "./section";

const text = service.endpoints;
const PAGE_APPS = 50;
const MOST_SINCE = 100;
const MOST_OF_APP = 10;

const isWell = ({ state }: Endpoint) => state === "healthy" || state === "none";

type Since = (appId: string) => number | undefined;

const sinceOf = (items: AttentionItem[]) =>
  Object.fromEntries(items.flatMap(({ app_id, since }) => (app_id === null ? [] : [[app_id, since]])));

/** Since when, which the apps' own objects do not tell: of the oldest of each kind, and whether these are all. */
async function loadOldest() {
  const kinds: AttentionKind[] = ["disabled", "failing"];
  const pages = await Promise.all(kinds.map((kind) => attention({ kind, limit: MOST_SINCE })));
  return { since: sinceOf(pages.flatMap(({ items }) => items)), isAll: pages.every(({ cursor }) => cursor === null) };
}

/** Of one app that is not among the oldest. */
async function loadSince([app_id]: string[]): Promise<Record<string, number>> {
  const kinds: AttentionKind[] = ["disabled", "failing"];
  const pages = await Promise.all(kinds.map((kind) => attention({ kind, app_id, limit: MOST_OF_APP })));
  return sinceOf(pages.flatMap(({ items }) => items));
}

function useSince(bad: string[]): Since {
  const oldest = useCached("endpoints since", loadOldest).data;
  const others = oldest && !oldest.isAll ? bad.filter((id) => !(id in oldest.since)) : [];
  const { answers } = useAnswers(others.slice(0, PAGE_APPS), 1, loadSince);
  return (id) => oldest?.since[id] ?? answers[id] ?? undefined;
}

export function Endpoints() {
  const pages = usePages<Endpoint>("endpoints", async (from) => {
    const { callbacks, cursor } = await serviceApi.endpoints(PAGE_APPS, from);
    return { rows: callbacks, cursor };
  });
  const bad = (pages.rows ?? []).filter((endpoint) => !isWell(endpoint)).map(({ app_id }) => app_id);
  const since = useSince(bad);
  const { nameOf } = useAppNames(bad);
  return (
    <Section title={text.title} of={pages.first} lines={2}>
      {() => <Looked at={pages.rows!} {...{ pages, nameOf, since }} />}
    </Section>
  );
}

interface Props {
  at: Endpoint[];
  pages: Pages<Endpoint>;
  nameOf: (appId: string) => string;
  since: Since;
}

function Looked({ at, pages, nameOf, since }: Props) {
  const bad = at.filter((endpoint) => !isWell(endpoint));
  return (
    <>
      <p class="card-foot">
        {at.length === 0 ? text.no : bad.length === 0 ? text.well(at.length) : text.some(bad.length, at.length)}
      </p>
      {bad.length > 0 && (
        <Table
          stacks
          name={text.title}
          columns={columns(nameOf, since)}
          rows={bad}
          rowKey={({ app_id }) => app_id}
        />
      )}
      {pages.hasMore && (
        <div class="card-foot padded-top">
          <More of={pages} label={text.more} busy={text.looking} />
        </div>
      )}
    </>
  );
}

const columns = (nameOf: (appId: string) => string, since: Since): Column<Endpoint>[] => [
  {
    key: "app",
    header: text.app,
    cell: ({ app_id: app }) => (
      <a href={appPath(app)}>
        <bdi>{nameOf(app)}</bdi>
      </a>
    ),
  },
  {
    key: "state",
    header: text.state,
    cell: ({ state }) => <CallbackBadge state={state} />,
  },
  {
    key: "since",
    header: text.since,
    cell: ({ app_id: app }) => {
      const at = since(app);
      return at === undefined ? common.none : exactTimeText(at / 1000);
    },
  },
  {
    key: "failures",
    header: text.failures,
    isNumber: true,
    cell: ({ consecutive_failures: failures = 0 }) => count(failures),
  },
  {
    key: "next",
    header: text.next,
    cell: ({ next_try_ts: next }) => (next ? exactTimeText(next) : common.none),
  },
  { key: "waiting", header: text.waiting, isNumber: true, cell: ({ waiting = 0 }) => count(waiting) },
  {
    key: "dead",
    header: text.dead,
    isNumber: true,
    cell: ({ app_id: app, dead = 0 }) =>
      dead > 0 ? (
        <a href={rewardsHref({ app, state: "dead" })} aria-label={`${count(dead)} ${text.dead}: ${nameOf(app)}`}>
          {count(dead)}
        </a>
      ) : (
        count(dead)
      ),
  },
];
