// The list of advertisers, and the dialog that creates one.

import { useState } from "preact/hooks";
import { refresh } from "../../../shared/cache";
import { isChangedMeanwhile } from "../../../shared/client";
import { AddButton, Button, LinkButton } from "../../../shared/components/button";
import { Input } from "../../../shared/components/field";
import { FormDialog, TextField } from "../../../shared/components/form-dialog";
import { Heading } from "../../../shared/components/heading";
import { LoadedTable } from "../../../shared/components/loaded";
import { Empty, Problem } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { timeText } from "../../../shared/format";
import { MAX_NAME } from "../../../shared/limits";
import { navigate, search, setSearch } from "../../../shared/navigation";
import { pageOf } from "../../../shared/page-of";
import { queryText } from "../../../shared/query-text";
import { usePages } from "../../../shared/use-pages";
import { useTyped } from "../../../shared/use-typed";
import type { KeptAdvertiser } from "../../../shared/generated/openapi";
import { get, putTagged } from "../../api";
import { ListFoot, NoMatch, SearchForm, sortIn, sortingBy } from "../../components/list";
import { isCreating, setCreating } from "../../commands";
import { NamedLink } from "../../components/links";
import { isId, MAX_ID } from "../../ids";
import { advertisers as text, check, refused } from "../../messages/advertisers";
import { advertiserPath, POSTBACKS_PATH } from "../../router";
import { may } from "../../session";
import { CheckDialog } from "./check";
import { ADVERTISER_NAMES_KEY, advertisersKey } from "../cache-keys";

const PAGE_ADVERTISERS = 100;

export function Advertisers() {
  const [isChecking, setChecking] = useState(false);
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        <LinkButton href={POSTBACKS_PATH}>{refused.title}</LinkButton>
        <Button onClick={() => setChecking(true)}>{check.title}</Button>
        {may("manage") && <AddButton onClick={() => setCreating(true)}>{text.create}</AddButton>}
      </Heading>
      <List />
      {isCreating() && <Create onClose={() => setCreating(false)} />}
      {isChecking && <CheckDialog onClose={() => setChecking(false)} />}
    </>
  );
}

function List() {
  const query = new URLSearchParams(search.value);
  const wanted = (query.get("q") ?? "").trim();
  const sort = sortIn(query);
  const change = (next: string) => setSearch(queryText({ q: next, sort }), "replace");
  const [typed, type] = useTyped(wanted, change);
  const pages = usePages(advertisersKey(queryText({ q: wanted, sort })), (cursor) =>
    get("/advertisers", { q: wanted, sort, limit: PAGE_ADVERTISERS, cursor }).then(pageOf("advertisers")),
  );
  const { rows } = pages;
  if (rows?.length === 0 && wanted === "") return <Empty title={text.emptyTitle}>{text.empty}</Empty>;
  return (
    <>
      <SearchForm name={text.title}>
        <Input label={text.search} spellcheck={false} maxLength={MAX_NAME} value={typed} onChange={type} />
      </SearchForm>
      <LoadedTable
        of={pages.list}
        lines={6}
        empty={<NoMatch title={text.noneTitle} clear={text.clear} onClear={() => change("")} />}
        name={text.title}
        columns={COLUMNS}
        sorting={sortingBy("advertiser", sort, (next) => setSearch(queryText({ q: wanted, sort: next }), "replace"))}
        rowKey="advertiser_id"
      >
        <ListFoot of={pages} shown={text.shown(rows?.length ?? 0, !pages.hasMore)} />
      </LoadedTable>
    </>
  );
}

const COLUMNS: Column<KeptAdvertiser>[] = [
  column(
    "advertiser",
    text.advertiser,
    ({ advertiser_id: id, name }) => <NamedLink path={advertiserPath(id)} id={id} name={name} />,
    { sortable: true },
  ),
  numberColumn("tokens", text.tokens, ({ tokens }) => tokens.length),
  column("newest", text.newest, ({ tokens }) => {
    if (tokens.length === 0) return <span class="note">{text.noToken}</span>;
    return timeText(Math.max(...tokens.map(({ issued_at }) => issued_at)));
  }),
];

function Create({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const create = async () => {
    if (!isId(id)) return setProblem(text.badId);
    try {
      await putTagged("/advertisers/{advertiser_id}", { advertiser_id: id }, { name: name.trim() }, null);
    } catch (error) {
      if (isChangedMeanwhile(error)) return setProblem(text.taken);
      throw error;
    }
    say(text.created(name.trim()));
    for (const key of [advertisersKey(), ADVERTISER_NAMES_KEY]) void refresh(key);
    onClose();
    navigate(advertiserPath(id));
  };
  return (
    <FormDialog title={text.create} button={text.create} onSubmit={create} onClose={onClose}>
      <TextField label={text.name} hint={text.nameHint} longest={MAX_NAME} value={name} onChange={setName} />
      <TextField
        label={text.id}
        hint={text.idHint}
        longest={MAX_ID}
        value={id}
        onChange={(value) => {
          setProblem(null);
          setId(value.trim());
        }}
      />
      <Problem>{problem}</Problem>
    </FormDialog>
  );
}
