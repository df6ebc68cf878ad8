// The list of offers, with their caps and the figures of the last 30 days.

import { useState } from "preact/hooks";
import { AddButton, LinkButton } from "../../../shared/components/button";
import { FormDialog, TextField } from "../../../shared/components/form-dialog";
import { Heading } from "../../../shared/components/heading";
import { Loaded } from "../../../shared/components/loaded";
import { Empty, Problem } from "../../../shared/components/states";
import {
  CardSkeleton,
  CardTable,
  type Column,
  column,
  numberColumn,
  type Sorting,
} from "../../../shared/components/table";
import { navigate, search, setSearch } from "../../../shared/navigation";
import { pageOf } from "../../../shared/page-of";
import { usePages } from "../../../shared/use-pages";
import { useTyped } from "../../../shared/use-typed";
import type { KeptOffer, OfferFigures } from "../../../shared/generated/openapi";
import { get, post } from "../../api";
import { FiguresFailed, ListFoot, NoFigure, NoMatch, sortingBy } from "../../components/list";
import { isCreating, setCreating } from "../../commands";
import { type Ticks, tickable, useTicks } from "../../components/ticks";
import { isId, MAX_ID } from "../../ids";
import { offers as text } from "../../messages/offers";
import { advertiserPath, IMPORT_PATH, offerPath } from "../../router";
import { may } from "../../session";
import { type Answers, useAnswers } from "../../use-answers";
import { useAdvertisers } from "../use-advertisers";
import { offerColumn, payoutColumn, stateColumn } from "./columns";
import { EditBar } from "./edit-offers";
import { NO_FILTER, type OfferFilter, parseFilter, queryOf, searchOf } from "./filter";
import { offersKey } from "../cache-keys";
import { ListFilters } from "./list-filters";
import { NearCaps } from "./near-caps";

// The maximum number of offers in one call for figures.
const PAGE_OFFERS = 100;

export function Offers() {
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        {may("manage") && (
          <>
            <LinkButton href={IMPORT_PATH}>{text.import}</LinkButton>
            <AddButton onClick={() => setCreating(true)}>{text.create}</AddButton>
          </>
        )}
      </Heading>
      <NearCaps />
      <List />
      {isCreating() && <Create onClose={() => setCreating(false)} />}
    </>
  );
}

function List() {
  const filter = parseFilter(search.value);
  const filterText = searchOf(filter);
  const change = (next: OfferFilter) => setSearch(searchOf(next), "replace");
  const [typed, type] = useTyped(filter.text, (text) => change({ ...parseFilter(search.peek()), text }));
  const pages = usePages(offersKey(filterText), (cursor) =>
    get("/offers", { ...queryOf(filter), limit: PAGE_OFFERS, cursor }).then(pageOf("offers")),
  );
  return (
    <>
      <ListFilters filter={filter} typed={typed} onType={type} onChange={change} />
      <Loaded of={pages.list} loading={<CardSkeleton rows={8} />}>
        {(rows) =>
          rows.length > 0 ? (
            <>
              <Shown
                offers={rows}
                sorting={
                  filter.advertiser ? undefined : sortingBy("offer", filter.sort, (sort) => change({ ...filter, sort }))
                }
                onChanged={() => void pages.list.reload()}
              />
              <ListFoot of={pages} shown={text.shown(rows.length, !pages.hasMore)} />
            </>
          ) : filterText === searchOf({ ...NO_FILTER, sort: filter.sort }) ? (
            <Empty title={text.emptyTitle}>{text.empty}</Empty>
          ) : (
            <NoMatch title={text.noneTitle} clear={text.clear} onClear={() => change(NO_FILTER)} />
          )
        }
      </Loaded>
    </>
  );
}

const figuresOf = async (ids: string[]) => (await post("/offer_figures", {}, { offer_ids: ids })).figures;

const LABEL = ({ name }: KeptOffer) => text.tick(name);

interface ShownProps {
  offers: KeptOffer[];
  sorting?: Sorting;
  onChanged: () => void;
}

function Shown({ offers, sorting, onChanged }: ShownProps) {
  const { nameOf } = useAdvertisers();
  const ticks = useTicks<KeptOffer>(({ offer_id: id }) => (may("manage") ? id : null), LABEL);
  const {
    answers: figures,
    error,
    retry,
  } = useAnswers(
    offers.map(({ offer_id }) => offer_id),
    PAGE_OFFERS,
    figuresOf,
  );
  return (
    <>
      <FiguresFailed error={error} text={text.figuresFailed} retry={retry} />
      {may("manage") && <EditBar offers={offers} ticks={ticks} onChanged={onChanged} />}
      <CardTable
        name={text.title}
        columns={columns(nameOf, figures, ticks)}
        rows={offers}
        rowKey="offer_id"
        sorting={sorting}
      />
    </>
  );
}

const columns = (
  nameOf: (id: string) => string,
  figures: Answers<OfferFigures["figures"][string]>,
  ticks: Ticks<KeptOffer>,
): Column<KeptOffer>[] => [
  { ...tickable(offerColumn, ticks), sortable: true },
  stateColumn,
  column("advertiser", text.advertiser, ({ advertiser_id: id }) => (
    <div class="advertiser">
      <a href={advertiserPath(id)}>{nameOf(id)}</a>
    </div>
  )),
  payoutColumn,
  column("caps", text.caps, ({ offer_id, click_cap: clicks, conversion_cap: conversions }) => {
    const { caps } = figures[offer_id] ?? {};
    if (!clicks && !conversions) return null;
    return (
      <span class="lines">
        {clicks && <span>{text.clickCap(clicks.lim, caps?.click?.used)}</span>}
        {conversions && <span>{text.conversionCap(conversions.lim, caps?.conversion?.used)}</span>}
      </span>
    );
  }),
  numberColumn("figures", text.figures, ({ offer_id }) => {
    const known = figures[offer_id];
    if (!known) return <NoFigure answer={known} title={text.noFigures} />;
    if (known.clicks === 0 && known.conversions === 0) return <span class="note">{text.noClicks}</span>;
    return (
      <span class="lines">
        <span>{text.paid(known.payout_usd)}</span>
        <span class="note">{text.reached(known.clicks, known.conversions)}</span>
      </span>
    );
  }),
];

function Create({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState("");
  const [isBad, setBad] = useState(false);
  return (
    <FormDialog
      title={text.create}
      button={text.openEditor}
      onSubmit={async () => {
        if (!isId(id)) return setBad(true);
        onClose();
        navigate(offerPath(id));
      }}
      onClose={onClose}
    >
      <TextField
        label={text.offerId}
        hint={text.createText}
        longest={MAX_ID}
        value={id}
        onChange={(value) => setId(value.trim())}
      />
      <Problem>{isBad && !isId(id) && text.badId}</Problem>
    </FormDialog>
  );
}
