// All publishers. Requests for a new Pub-Key stand above them, because somebody waits.

import { useState } from "preact/hooks";
import { Heading } from "../../../pages/components/heading";
import { Plus } from "../../../pages/components/icons";
import { More } from "../../../pages/components/more";
import { Segments } from "../../../pages/components/segments";
import { Empty, Failed, Stale } from "../../../pages/components/states";
import { type Column, Table, TableSkeleton } from "../../../pages/components/table";
import { search, setSearch } from "../../../pages/navigation";
import { usePages } from "../../../pages/use-pages";
import { publishersApi as api } from "../../api/publishers";
import { publishers as text } from "../../messages/publishers";
import { publisherPath } from "../../router";
import { may } from "../../session";
import type { Publisher } from "../../types/publishers";
import { PUBLISHERS_KEY } from "../cache-keys";
import { CreatePublisher } from "./create";
import { Requests } from "./requests";
import { StateBadge } from "./state";

type Shown = "all" | "waiting";

const SHOWN: Shown[] = ["all", "waiting"];
const PAGE_ROWS = 100;
// Of all publishers few wait, so more are looked at in one answer.
const SEARCHED_ROWS = 1000;

const shownIn = (query: string): Shown => (new URLSearchParams(query).get("state") === "waiting" ? "waiting" : "all");

export function Publishers() {
  const [isCreating, setCreating] = useState(false);
  const shown = shownIn(search.value);
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        {may("manage") && (
          <button type="button" class="button primary" onClick={() => setCreating(true)}>
            <Plus /> {text.create}
          </button>
        )}
      </Heading>
      <Requests />
      <div class="toolbar">
        <Segments
          name={text.show}
          options={SHOWN.map((value) => ({ value, label: text.shows[value] }))}
          value={shown}
          onChange={(value) => setSearch(value === "all" ? "" : "?state=waiting", "push")}
        />
      </div>
      <List key={shown} shown={shown} />
      {isCreating && <CreatePublisher onClose={() => setCreating(false)} />}
    </>
  );
}

function List({ shown }: { shown: Shown }) {
  const isAll = shown === "all";
  const list = usePages<Publisher>(
    `${PUBLISHERS_KEY} ${shown}`,
    async (cursor) => {
      const page = await api.list(isAll ? PAGE_ROWS : SEARCHED_ROWS, cursor);
      return { rows: page.publishers, cursor: page.cursor };
    },
    isAll ? undefined : ({ approved }) => !approved,
  );
  if (!list.rows) {
    return list.first.error ? (
      <Failed error={list.first.error} retry={list.reload} />
    ) : (
      <div class="card">
        <TableSkeleton rows={6} />
      </div>
    );
  }
  return (
    <>
      <Stale of={list.first} retry={list.reload} />
      {list.rows.length === 0 && !list.hasMore ? (
        isAll ? (
          <Empty title={text.emptyTitle}>{text.empty}</Empty>
        ) : (
          <Empty title={text.noneWaitingTitle}>{text.noneWaiting(list.seen)}</Empty>
        )
      ) : (
        list.rows.length > 0 && (
          <div class="card table-card">
            <Table
              stacks
              name={text.title}
              columns={COLUMNS}
              rows={list.rows}
              rowKey={({ publisher_id: id }) => id}
            />
          </div>
        )
      )}
      {!isAll && list.hasMore && <p class="note">{text.looked(list.rows.length, list.seen)}</p>}
      <More of={list} label={text.more} busy={text.loading} />
    </>
  );
}

const COLUMNS: Column<Publisher>[] = [
  {
    key: "name",
    header: text.name,
    cell: ({ publisher_id: id, name }) => <a href={publisherPath(id)}>{name}</a>,
  },
  { key: "id", header: text.id, cell: ({ publisher_id: id }) => <code>{id}</code> },
  { key: "state", header: text.state, cell: (publisher) => <StateBadge publisher={publisher} /> },
];
