// The delivery log: every reward and what became of its callback, live.

import { Heading } from "../../../shared/components/heading";
import { Warning } from "../../../shared/components/icons";
import { Empty, Failed, FormError } from "../../../shared/components/states";
import { Table, TableSkeleton } from "../../../shared/components/table";
import { errorText } from "../../../shared/error-text";
import { ReplayMany } from "../../../shared/rewards/replay-many";
import { api } from "../../api";
import { common } from "../../messages";
import { rewards as text } from "../../messages/rewards";
import { fragment, search, setSearch } from "../../../shared/navigation";
import { REPLAY_HASH, rewardPath } from "../../router";
import { may, session } from "../../session";
import { useAppNames } from "../app-names";
import { columns } from "./columns";
import { Filters } from "./filters";
import { fixedConditions, hashOf, type LogFilter, NO_FILTER, parseFilter, queryOf, replayOf, searchOf } from "./filter";
import { Live } from "./live";
import { type Log, useLog } from "./use-log";

export function Rewards() {
  const role = session.value?.member.role;
  const isAnalyst = role === "analyst";
  const filter = parseFilter(search.value, fragment.value);
  // Analysts see no users, so they cannot ask for one.
  if (isAnalyst) filter.user = "";
  const names = useAppNames();
  // A question by POST names the account, which the first answer tells. Without it the page would be sent to the overview.
  const log = useLog(session.value ? queryOf(filter) : null);
  const isFiltered = searchOf(filter) !== "" || hashOf(filter) !== "";

  const change = (next: LogFilter) => setSearch(searchOf(next), "push", hashOf(next));

  return (
    <>
      <Heading title={text.title} note={text.intro}>
        <Live log={log} />
      </Heading>
      <Filters filter={filter} apps={names.apps} isAnalyst={isAnalyst} onChange={change} />
      {role && may(role, "replay") && (
        <ReplayMany
          calls={api}
          mayStop
          app={filter.app}
          appName={names.nameOf(filter.app)}
          delivery={filter.delivery}
          from={filter.from}
          to={filter.to}
          fixed={fixedConditions(filter)}
          filterOf={(delivery, from, to) => replayOf({ ...filter, delivery, from, to }, Date.now() / 1000)}
          isOpenAtFirst={fragment.peek() === REPLAY_HASH}
          // Only the link that led here opens it.
          onClose={() => setSearch(searchOf(filter), "replace", hashOf(filter))}
        />
      )}
      <Result
        log={log}
        isAnalyst={isAnalyst}
        nameOf={names.nameOf}
        filter={filter}
        isFiltered={isFiltered}
        clear={() => change(NO_FILTER)}
      />
    </>
  );
}

interface ResultProps {
  log: Log;
  isAnalyst: boolean;
  nameOf: (appId: string) => string;
  filter: LogFilter;
  isFiltered: boolean;
  clear: () => void;
}

function Result({ log, isAnalyst, nameOf, filter, isFiltered, clear }: ResultProps) {
  const { page, error, older } = log;
  if (!page) {
    return error ? (
      <Failed error={error} retry={log.reload} />
    ) : (
      <div class="card">
        <TableSkeleton rows={8} />
      </div>
    );
  }
  return (
    <>
      {error && (
        <div class="banner warning" role="status">
          <Warning />
          <p>
            {text.stopped} {errorText(error)}
          </p>
          <button type="button" class="button small" onClick={log.reload}>
            {common.retry}
          </button>
        </div>
      )}
      {page.rows.length === 0 ? (
        <Empty
          title={isFiltered ? text.noneTitle : text.emptyTitle}
          action={
            isFiltered && (
              <div class="row centred">
                {filter.app && filter.transaction && (
                  <a class="button" href={rewardPath(filter.app, filter.transaction)}>
                    {text.findOld}
                  </a>
                )}
                <button type="button" class="button" onClick={clear}>
                  {text.clear}
                </button>
              </div>
            )
          }
        >
          {isFiltered ? (filter.transaction ? text.noneOld : text.none) : text.empty}
        </Empty>
      ) : (
        <>
          <div class="card table-card">
            <Table
              stacks
              name={text.tableName}
              columns={columns(nameOf, isAnalyst)}
              rows={page.rows}
              rowKey={({ app_id, transaction_id }) => `${app_id} ${transaction_id}`}
            />
          </div>
          <FormError error={older.error} />
          {page.cursor ? (
            <button type="button" class="button" aria-disabled={older.isRunning} onClick={() => void older.run()}>
              {text.older}
            </button>
          ) : (
            <p class="note">{text.end}</p>
          )}
        </>
      )}
    </>
  );
}
