// The delivery log: every reward and what became of its callback, live.

import { LinkButton } from "../../../shared/components/button";
import { Heading } from "../../../shared/components/heading";
import { More } from "../../../shared/components/more";
import { Banner, Empty, Failed } from "../../../shared/components/states";
import { CardSkeleton, CardTable } from "../../../shared/components/table";
import { errorText } from "../../../shared/error-text";
import { list } from "../../../shared/messages/rewards";
import { ClearButton } from "../../../shared/rewards/filters";
import { type ReplayCalls, ReplayMany } from "../../../shared/rewards/replay-many";
import { get, post, remove } from "../../api";
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
import { UserData } from "./user-data";

const replayCalls: ReplayCalls = {
  order: (app_id, order, headers) => post("/apps/{app_id}/replays", { app_id }, order, headers),
  progress: (app_id, replay_id) => get("/apps/{app_id}/replays/{replay_id}", { app_id, replay_id }),
  pollMilliseconds: 2000,
  cancel: (app_id, replay_id) => remove("/apps/{app_id}/replays/{replay_id}", { app_id, replay_id }),
};

export function Rewards() {
  const isAnalyst = session.value?.member.role === "analyst";
  const filter = parseFilter(search.value, fragment.value);
  // Analysts see no users, so they cannot filter by one.
  if (isAnalyst) filter.user = "";
  const names = useAppNames();
  // A POST must name the account, which is unknown until the first answer. A POST without the account would be refused,
  // and the page would then go to the overview.
  const log = useLog(session.value ? queryOf(filter) : null);
  const isFiltered = searchOf(filter) !== "" || hashOf(filter) !== "";

  const change = (next: LogFilter) => setSearch(searchOf(next), "push", hashOf(next));

  return (
    <>
      <Heading title={text.title} note={text.intro}>
        <Live log={log} />
        {may("users") && <UserData user={filter.user} onErased={log.reload} />}
      </Heading>
      <Filters filter={filter} apps={names.apps} isAnalyst={isAnalyst} onChange={change} />
      {may("replay_many") && (
        <ReplayMany
          calls={replayCalls}
          mayStop
          app={filter.app}
          appName={names.nameOf(filter.app)}
          delivery={filter.delivery}
          from={filter.from}
          to={filter.to}
          fixed={fixedConditions(filter)}
          filterOf={(delivery, from, to) => replayOf({ ...filter, delivery, from, to }, Date.now() / 1000)}
          isOpenAtFirst={fragment.peek() === REPLAY_HASH}
          // Remove the fragment, so that only the link that led here opens the dialog.
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
    return error ? <Failed error={error} retry={log.reload} /> : <CardSkeleton rows={8} />;
  }
  return (
    <>
      {error && (
        <Banner onClick={log.reload}>
          {text.stopped} {errorText(error)}
        </Banner>
      )}
      {page.rows.length === 0 ? (
        <Empty
          title={isFiltered ? list.noneTitle : text.emptyTitle}
          action={
            isFiltered && (
              <div class="row centred">
                {filter.app && filter.transaction && (
                  <LinkButton href={rewardPath(filter.app, filter.transaction)}>{text.findOld}</LinkButton>
                )}
                <ClearButton onClick={clear} />
              </div>
            )
          }
        >
          {isFiltered ? (filter.transaction ? text.noneOld : text.none) : text.empty}
        </Empty>
      ) : (
        <>
          <CardTable
            name={text.tableName}
            columns={columns(nameOf, isAnalyst)}
            rows={page.rows}
            rowKey={({ app_id, transaction_id }) => `${app_id} ${transaction_id}`}
          />
          <More of={{ hasMore: page.cursor !== null, more: older }} label={list.older} />
          {page.cursor === null && <p class="note">{text.end}</p>}
        </>
      )}
    </>
  );
}
