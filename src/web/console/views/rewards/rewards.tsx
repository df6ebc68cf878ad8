// Rewards of an app, the newest first; and what settles or sends many of them.

import { FirstPage } from "../../../shared/components/first-page";
import { Heading } from "../../../shared/components/heading";
import { More } from "../../../shared/components/more";
import { Empty, Stale } from "../../../shared/components/states";
import { Table } from "../../../shared/components/table";
import { fragment, search, setSearch } from "../../../shared/navigation";
import { ReplayMany } from "../../../shared/rewards/replay-many";
import { type Pages, usePages } from "../../../shared/use-pages";
import { replayCalls, rewardsApi } from "../../api/rewards";
import { useAppNames } from "../../app-names";
import { rewards as text } from "../../messages/rewards";
import { may } from "../../session";
import type { Entry } from "../../types/rewards";
import { columns } from "./columns";
import {
  fixedConditions,
  hashOf,
  NO_FILTER,
  parseFilter,
  queryOf,
  replayOf,
  type RewardsFilter,
  searchOf,
} from "./filter";
import { Filters } from "./filters";
import { SettleMany } from "./settle-many";

const PAGE_ROWS = 50;
/** Of the list's address: opens the question what to send again. */
const REPLAY_HASH = "#replay";

export function Rewards() {
  const filter = parseFilter(search.value, fragment.value);
  const { app } = filter;
  const { nameOf } = useAppNames();
  const list = usePages<Entry>(app ? `rewards ${JSON.stringify(filter)}` : null, async (cursor) => {
    const { conversions, cursor: next } = await rewardsApi.list(app, queryOf(filter), PAGE_ROWS, cursor);
    return { rows: conversions, cursor: next };
  });
  const change = (next: RewardsFilter) => setSearch(searchOf(next), "push", hashOf(next));
  return (
    <>
      <Heading title={text.title} note={text.note} />
      <Filters filter={filter} onChange={change} />
      {app && (
        <div class="row many">
          {may("manage") && <SettleMany key={app} filter={filter} appName={nameOf(app)} onSettled={list.reload} />}
          {may("replay") && (
            <ReplayMany
              calls={replayCalls}
              mayStop={may("manage")}
              app={app}
              appName={nameOf(app)}
              delivery={filter.state}
              from=""
              to=""
              ignored={filter.reason ? text.replayIgnores : undefined}
              fixed={fixedConditions(filter)}
              filterOf={(delivery, from, to) => replayOf({ ...filter, state: delivery }, from, to)}
              isOpenAtFirst={fragment.peek() === REPLAY_HASH}
              // Only the link that led here opens it.
              onClose={() => setSearch(searchOf(filter), "replace", hashOf(filter))}
            />
          )}
        </div>
      )}
      {app ? (
        <Result
          app={app}
          list={list}
          isFiltered={JSON.stringify({ ...filter, app: "" }) !== JSON.stringify(NO_FILTER)}
        />
      ) : (
        <Empty title={text.chooseTitle}>{text.choose}</Empty>
      )}
    </>
  );
}

function Result({ app, list, isFiltered }: { app: string; list: Pages<Entry>; isFiltered: boolean }) {
  const { first, rows, hasMore, reload } = list;
  if (!rows) {
    return first.error?.status === 404 ? <Empty title={text.unknownApp} /> : <FirstPage of={list} rows={8} />;
  }
  if (rows.length === 0) {
    return isFiltered ? <Empty title={text.noneTitle}>{text.none}</Empty> : <Empty title={text.empty} />;
  }
  return (
    <>
      <Stale of={first} retry={reload} />
      <div class="card table-card">
        <Table
          stacks
          name={text.tableName}
          columns={columns(app)}
          rows={rows}
          rowKey={({ transaction_id }) => transaction_id}
        />
      </div>
      <More of={list} label={text.older} busy={text.looking} />
      {!hasMore && <p class="note">{text.end}</p>}
    </>
  );
}
