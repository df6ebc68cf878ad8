// All publishers. Requests for a new Pub-Key are above them, because somebody is waiting.

import type { ComponentChildren } from "preact";
import { AddButton } from "../../../shared/components/button";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Segments } from "../../../shared/components/segments";
import { Empty } from "../../../shared/components/states";
import {
  CardSkeleton,
  CardTable,
  type Column,
  column,
  numberColumn,
  type Sorting,
} from "../../../shared/components/table";
import { count, money } from "../../../shared/format";
import { search, setSearch } from "../../../shared/navigation";
import { pageOf } from "../../../shared/page-of";
import { queryText } from "../../../shared/query-text";
import { usePages } from "../../../shared/use-pages";
import type { AttentionKind, KeptPublisher, PublisherFigures } from "../../../shared/generated/openapi";
import { get, post } from "../../api";
import { FiguresFailed, NoFigure, type Sort, sortIn, sortingBy } from "../../components/list";
import { isCreating, setCreating } from "../../commands";
import { NamedLink } from "../../components/links";
import { common } from "../../messages";
import { publisher as publisherText, publishers as text } from "../../messages/publishers";
import { APPROVE_HASH, ATTENTION_PATH, publisherPath } from "../../router";
import { may } from "../../session";
import { type Answers, useAnswers } from "../../use-answers";
import { PUBLISHERS_KEY } from "../cache-keys";
import { CreatePublisher } from "./create";
import { Requests } from "./requests";
import { mayBeApproved, StateBadge } from "./state";

/** Sums of 30 days over the apps that have had a conversion. */
type Figures = PublisherFigures["figures"][string];
type Shown = "all" | "waiting";

const SHOWN: Shown[] = ["all", "waiting"];
// The maximum number of publishers in one call for figures.
const PAGE_ROWS = 50;

const searchOf = (shown: Shown, sort: Sort) => queryText({ state: shown === "all" ? "" : shown, sort });

export function Publishers() {
  const query = new URLSearchParams(search.value);
  const shown: Shown = query.get("state") === "waiting" ? "waiting" : "all";
  const sort = sortIn(query);
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        {may("manage") && <AddButton onClick={() => setCreating(true)}>{text.create}</AddButton>}
      </Heading>
      <Requests />
      <div class="toolbar">
        <Segments
          name={text.show}
          options={SHOWN.map((value) => ({ value, label: text.shows[value] }))}
          value={shown}
          onChange={(value) => setSearch(searchOf(value, sort), "push")}
        />
      </div>
      <List key={shown} shown={shown} sort={sort} />
      {isCreating() && <CreatePublisher onClose={() => setCreating(false)} />}
    </>
  );
}

function List({ shown, sort }: { shown: Shown; sort: Sort }) {
  const isAll = shown === "all";
  const isShown = ({ closed }: KeptPublisher) => isAll || !closed;
  const list = usePages(`${PUBLISHERS_KEY} ${shown} ${sort}`, (cursor) =>
    get("/publishers", { approved: isAll ? "" : "false", sort, limit: PAGE_ROWS, cursor }).then(pageOf("publishers")),
  );
  return (
    <Loaded of={list.list} loading={<CardSkeleton rows={6} />}>
      {(rows) => (
        <>
          {rows.some(isShown) ? (
            <Found
              publishers={rows.filter(isShown)}
              sorting={sortingBy("name", sort, (next) => setSearch(searchOf(shown, next), "replace"))}
            />
          ) : isAll ? (
            <Empty title={text.emptyTitle}>{text.empty}</Empty>
          ) : (
            <Empty title={text.noneWaitingTitle}>{text.noneWaiting}</Empty>
          )}
          <More of={list} busy={common.loading} />
        </>
      )}
    </Loaded>
  );
}

const figuresOf = async (ids: string[]) => (await post("/publisher_figures", {}, { publisher_ids: ids })).figures;

interface FoundProps {
  publishers: KeptPublisher[];
  sorting: Sorting;
}

function Found({ publishers, sorting }: FoundProps) {
  const { answers, error, retry } = useAnswers(
    publishers.map(({ publisher_id: id }) => id),
    PAGE_ROWS,
    figuresOf,
  );
  return (
    <>
      <FiguresFailed error={error} text={text.figuresFailed} retry={retry} />
      <p class="note list-note">{text.figuresNote}</p>
      <CardTable
        name={text.title}
        columns={columns(answers)}
        rows={publishers}
        rowKey="publisher_id"
        sorting={sorting}
      />
    </>
  );
}

function columns(figures: Answers<Figures>): Column<KeptPublisher>[] {
  const figure = (key: string, header: string, show: (figures: Figures) => ComponentChildren) =>
    numberColumn<KeptPublisher>(key, header, ({ publisher_id: id }) => {
      const known = figures[id];
      return known ? show(known) : <NoFigure answer={known} title={text.noFigures} />;
    });
  return [
    column(
      "name",
      text.name,
      ({ publisher_id: id, name }) => <NamedLink path={publisherPath(id)} id={id} name={name} />,
      { sortable: true },
    ),
    column("state", text.state, (publisher) => (
      <>
        <StateBadge publisher={publisher} />
        {mayBeApproved(publisher) && (
          <span class="cell-second">
            <a
              href={publisherPath(publisher.publisher_id) + APPROVE_HASH}
              aria-label={`${publisherText.approve}: ${publisher.name}`}
            >
              {publisherText.approve}
            </a>
          </span>
        )}
      </>
    )),
    figure("apps", text.apps, ({ apps }) => count(apps)),
    figure("rewards", text.rewards, ({ approved, pending }) => (
      <span class="lines">
        <span>{count(approved)}</span>
        {pending > 0 && <span class="note">{text.pending(pending)}</span>}
      </span>
    )),
    figure("payout", text.payout, ({ payout_usd: usd }) => money(usd)),
    { ...figure("open", text.open, (known) => <Open figures={known} />), isNumber: false },
  ];
}

/** Links to open items; each leads to a list over all publishers. */
function Open({ figures }: { figures: Figures }) {
  const { held, dead_callbacks: dead, disabled_callbacks: disabled } = figures;
  const open = (kind: AttentionKind, number: number, name: string) =>
    number > 0 && <a href={ATTENTION_PATH + queryText({ kind })}>{name}</a>;
  if (held + dead + disabled === 0) return <span class="note">{text.nothingOpen}</span>;
  return (
    <span class="lines">
      {open("held", held, text.held(held))}
      {open("dead", dead, text.dead(dead))}
      {open("disabled", disabled, text.disabled(disabled))}
    </span>
  );
}
