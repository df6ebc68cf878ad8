// Rewards of an app, the newest first, with dialogs that settle many rewards or resend many callbacks.

import { Heading } from "../../../shared/components/heading";
import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Empty } from "../../../shared/components/states";
import { list as listText } from "../../../shared/messages/rewards";
import { fragment, search, setSearch } from "../../../shared/navigation";
import { pageOf } from "../../../shared/page-of";
import { fixedConditions, replayOf } from "../../../shared/rewards/filter";
import { type ReplayCalls, ReplayMany } from "../../../shared/rewards/replay-many";
import { type Pages, usePages } from "../../../shared/use-pages";
import type { Entry } from "../../../shared/generated/openapi";
import { get, post, remove } from "../../api";
import { useAppNames } from "../../app-names";
import { rewards as text } from "../../messages/rewards";
import { CATALOG_POLL_MILLISECONDS } from "../../poll";
import { may, nowSeconds } from "../../session";
import { columns } from "./columns";
import { hashOf, isFiltered, parseFilter, queryOf, type RewardsFilter, searchOf } from "./filter";
import { Filters } from "./filters";
import { SettleMany } from "./settle-many";

const PAGE_ROWS = 50;
/** URL fragment that opens the list's dialog for resending callbacks. */
const REPLAY_HASH = "#replay";

/** A user id is sent in the body, which no log contains. */
const load = (app_id: string, { user_id, ...query }: ReturnType<typeof queryOf>, cursor: string | null) =>
  user_id
    ? post("/apps/{app_id}/conversions", { app_id }, { ...query, user_id, limit: PAGE_ROWS, ...(cursor && { cursor }) })
    : get("/apps/{app_id}/conversions", { app_id, ...query, limit: PAGE_ROWS, cursor });

const replayCalls: ReplayCalls = {
  order: (app_id, order, headers) => post("/apps/{app_id}/replays", { app_id }, order, headers),
  progress: (app_id, replay_id) => get("/apps/{app_id}/replays/{replay_id}", { app_id, replay_id }, true),
  pollMilliseconds: CATALOG_POLL_MILLISECONDS,
  cancel: (app_id, replay_id) => remove("/apps/{app_id}/replays/{replay_id}", { app_id, replay_id }),
};

export function Rewards() {
  const filter = parseFilter(search.value, fragment.value);
  const { app } = filter;
  const { nameOf } = useAppNames();
  const list = usePages(app ? `rewards ${JSON.stringify(filter)}` : null, (cursor) =>
    load(app, queryOf(filter), cursor).then(pageOf("conversions")),
  );
  const change = (next: RewardsFilter) => setSearch(searchOf(next), "push", hashOf(next));
  return (
    <>
      <Heading title={text.title} note={text.note} />
      <Filters filter={filter} onChange={change} />
      {app && list.list.error?.status !== 404 && (
        <div class="row many">
          {may("manage") && <SettleMany key={app} filter={filter} appName={nameOf(app)} onSettled={list.reload} />}
          {may("replay") && (
            <ReplayMany
              calls={replayCalls}
              mayStop={may("manage")}
              app={app}
              appName={nameOf(app)}
              delivery={filter.delivery}
              from=""
              to=""
              ignored={filter.reason ? text.replayIgnores : undefined}
              fixed={fixedConditions(filter)}
              filterOf={(delivery, from, to) => replayOf({ ...filter, delivery, from, to }, nowSeconds())}
              isOpenAtFirst={fragment.peek() === REPLAY_HASH}
              // Remove the fragment, so that only the link that led here opens the dialog.
              onClose={() => setSearch(searchOf(filter), "replace", hashOf(filter))}
            />
          )}
        </div>
      )}
      {app ? (
        <Result app={app} list={list} isFiltered={isFiltered(filter)} />
      ) : (
        <Empty title={text.chooseTitle}>{text.choose}</Empty>
      )}
    </>
  );
}

function Result({ app, list, isFiltered }: { app: string; list: Pages<Entry>; isFiltered: boolean }) {
  return (
    <LoadedTable
      of={list.list}
      lines={8}
      missing={<Empty title={text.unknownApp} />}
      empty={isFiltered ? <Empty title={listText.noneTitle}>{text.none}</Empty> : <Empty title={text.empty} />}
      name={text.tableName}
      columns={columns(app)}
      rowKey="transaction_id"
    >
      <More of={list} label={listText.older} busy={text.looking} />
      {!list.hasMore && <p class="note">{text.end}</p>}
    </LoadedTable>
  );
}
