// The list of advertisers, and the dialog that creates one.

import { useState } from "preact/hooks";
import { refresh } from "../../../shared/cache";
import { isChangedMeanwhile } from "../../../shared/client";
import { FormDialog, TextField } from "../../../shared/components/dialog";
import { Field } from "../../../shared/components/field";
import { FirstPage } from "../../../shared/components/first-page";
import { Heading } from "../../../shared/components/heading";
import { Plus } from "../../../shared/components/icons";
import { More } from "../../../shared/components/more";
import { Name } from "../../../shared/components/name";
import { Empty, Stale } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { type Column, Table } from "../../../shared/components/table";
import { timeText } from "../../../shared/format";
import { LONGEST_NAME } from "../../../shared/limits";
import { navigate, search, setSearch } from "../../../shared/navigation";
import { withVerification } from "../../../shared/passkeys";
import { queryText } from "../../../shared/query-text";
import { usePages } from "../../../shared/use-pages";
import { useTyped } from "../../../shared/use-typed";
import { advertisersApi } from "../../api/advertisers";
import { isId, LONGEST_ID } from "../../ids";
import { advertisers as text, check } from "../../messages/advertisers";
import { advertiserPath } from "../../router";
import { may } from "../../session";
import type { Advertiser } from "../../types/advertisers";
import { CheckDialog } from "./check";
import { ADVERTISER_NAMES_KEY, advertisersKey } from "../cache-keys";

const PAGE_ADVERTISERS = 100;

export function Advertisers() {
  const [open, setOpen] = useState<"create" | "check" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        <button type="button" class="button" onClick={() => setOpen("check")}>
          {check.title}
        </button>
        {may("manage") && (
          <button type="button" class="button primary" onClick={() => setOpen("create")}>
            <Plus /> {text.create}
          </button>
        )}
      </Heading>
      <List />
      {open === "create" && <Create onClose={close} />}
      {open === "check" && <CheckDialog onClose={close} />}
    </>
  );
}

const textOf = (query: string) => (new URLSearchParams(query).get("q") ?? "").trim();

function List() {
  const wanted = textOf(search.value);
  const change = (next: string) => setSearch(queryText({ q: next }), "replace");
  const [typed, type] = useTyped(wanted, change);
  const pages = usePages<Advertiser>(advertisersKey(wanted), async (cursor) => {
    const page = await advertisersApi.list(cursor, PAGE_ADVERTISERS, wanted);
    return { rows: page.advertisers, cursor: page.cursor };
  });
  const { first, rows, hasMore, reload } = pages;
  if (rows?.length === 0 && wanted === "") return <Empty title={text.emptyTitle}>{text.empty}</Empty>;
  return (
    <>
      <Stale of={first} retry={reload} />
      <form
        class="card padded list-filters"
        role="search"
        aria-label={text.title}
        onSubmit={(event) => event.preventDefault()}
      >
        <Field label={text.search}>
          {(props) => (
            <input
              {...props}
              type="text"
              autocomplete="off"
              spellcheck={false}
              maxLength={LONGEST_NAME}
              value={typed}
              onInput={(event) => type(event.currentTarget.value)}
            />
          )}
        </Field>
      </form>
      {!rows ? (
        <FirstPage of={pages} rows={6} />
      ) : rows.length > 0 ? (
        <>
          <div class="card table-card">
            <Table
              stacks
              name={text.title}
              columns={COLUMNS}
              rows={rows}
              rowKey={({ advertiser_id }) => advertiser_id}
            />
          </div>
          <div class="row list-foot">
            <More of={pages} label={text.more} />
            <p class="note" role="status">
              {text.shown(rows.length, !hasMore)}
            </p>
          </div>
        </>
      ) : (
        <Empty
          title={text.noneTitle}
          action={
            <button type="button" class="button" onClick={() => change("")}>
              {text.clear}
            </button>
          }
        />
      )}
    </>
  );
}

const COLUMNS: Column<Advertiser>[] = [
  {
    key: "advertiser",
    header: text.advertiser,
    cell: ({ advertiser_id: id, name }) => (
      <div class="offer">
        <a href={advertiserPath(id)}>
          <Name>{name}</Name>
        </a>
        <span class="cell-second">{id}</span>
      </div>
    ),
  },
  {
    key: "tokens",
    header: text.tokens,
    isNumber: true,
    cell: ({ tokens }) => tokens.length,
  },
  {
    key: "newest",
    header: text.newest,
    cell: ({ tokens }) => {
      if (tokens.length === 0) return <span class="note">{text.noToken}</span>;
      return timeText(Math.max(...tokens.map(({ issued_at }) => issued_at)));
    },
  },
];

function Create({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const create = async () => {
    if (!isId(id)) return setProblem(text.badId);
    try {
      await withVerification(() => advertisersApi.create(id, name.trim()));
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
      <TextField label={text.name} hint={text.nameHint} longest={LONGEST_NAME} value={name} onChange={setName} />
      <TextField
        label={text.id}
        hint={text.idHint}
        longest={LONGEST_ID}
        value={id}
        onChange={(value) => {
          setProblem(null);
          setId(value.trim());
        }}
      />
      {problem && (
        <p class="form-error" role="alert">
          {problem}
        </p>
      )}
    </FormDialog>
  );
}
