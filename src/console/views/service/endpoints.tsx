// Callbacks that fail or are switched off. Each page asks its apps, so further ones are asked for by a button only.

import { useEffect, useState } from "preact/hooks";
import { useCached } from "../../../pages/cache";
import { Failed, FormError, Skeleton } from "../../../pages/components/states";
import { type Column, Table } from "../../../pages/components/table";
import { count, exactTimeText } from "../../../pages/format";
import { common } from "../../../pages/messages";
import { useAction } from "../../../pages/action";
import type { ApiError } from "../../../pages/client";
import { attention } from "../../api/attention";
import { serviceApi } from "../../api/service";
import { useAppNames } from "../../app-names";
import { service } from "../../messages/service";
import { appPath } from "../../router";
import type { AttentionKind } from "../../types/attention";
import type { Endpoint } from "../../types/service";
import { rewardsHref } from "../rewards/filter";

const text = service.endpoints;
const PAGE_APPS = 50;
const MOST_SINCE = 100;

const isWell = ({ state }: Endpoint) => state === "healthy" || state === "none";

/** Since when, which the apps' own objects do not tell. */
async function loadSince(): Promise<Map<string, number>> {
  const kinds: AttentionKind[] = ["disabled", "failing"];
  const pages = await Promise.all(kinds.map((kind) => attention({ kind, limit: MOST_SINCE })));
  const items = pages.flatMap((page) => page.items);
  return new Map(items.flatMap(({ app_id, since }): [string, number][] => (app_id === null ? [] : [[app_id, since]])));
}

export function Endpoints() {
  const [looked, setLooked] = useState<Endpoint[]>([]);
  // Undefined before the first page.
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const since = useCached("endpoints since", loadSince).data ?? new Map<string, number>();
  const { nameOf } = useAppNames();
  const look = useAction(async () => {
    // Apps without a callback are left out, so that a page may be empty.
    let next = cursor ?? null;
    let found: Endpoint[];
    do {
      const page = await serviceApi.endpoints(PAGE_APPS, next);
      found = page.callbacks;
      next = page.cursor;
    } while (found.length === 0 && next !== null);
    setLooked([...looked, ...found]);
    setCursor(next);
  });
  useEffect(() => void look.run(), []);
  const bad = looked.filter((endpoint) => !isWell(endpoint));
  return (
    <section class="card" aria-labelledby="endpoints">
      <div class="card-head">
        <h2 id="endpoints">{text.title}</h2>
      </div>
      {cursor === undefined ? (
        look.error ? (
          <Failed error={look.error as ApiError} retry={() => void look.run()} compact />
        ) : (
          <Skeleton class="list-skeleton" lines={2} />
        )
      ) : (
        <>
          <p class="card-foot">
            {looked.length === 0
              ? text.no
              : bad.length === 0
                ? text.well(looked.length)
                : text.some(bad.length, looked.length)}
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
          {cursor !== null && (
            <div class="card-foot padded-top">
              <FormError error={look.error} />
              <button
                type="button"
                class="button small"
                aria-disabled={look.isRunning}
                onClick={() => void look.run()}
              >
                {look.isRunning ? text.looking : text.more}
              </button>
            </div>
          )}
        </>
      )}
    </section>
  );
}

const columns = (nameOf: (appId: string) => string, since: Map<string, number>): Column<Endpoint>[] => [
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
    cell: ({ state }) => <span class={`badge ${state}`}>{text.states[state] ?? state}</span>,
  },
  {
    key: "since",
    header: text.since,
    cell: ({ app_id: app }) => (since.has(app) ? exactTimeText(since.get(app)! / 1000) : common.none),
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
