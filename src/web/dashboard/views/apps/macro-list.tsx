// The macros of a callback's URL. Explains each macro, marks the used ones, and says what is wrong with the typed ones.

import { Warning } from "../../../shared/components/icons";
import { RowButton } from "../../../shared/components/row-button";
import { type Column, column, numberColumn, Table } from "../../../shared/components/table";
import { appForm, MACROS } from "../../messages/apps";
import type { NewCallback } from "../../types";
import { MACRO_NAMES, type Macros } from "./macros";

const text = appForm.callback;

interface NotesProps {
  macros: Macros;
  draft: NewCallback;
}

/** Notes while the URL is typed. The service checks the URL again when it is saved. */
export function MacroNotes({ macros, draft }: NotesProps) {
  const { used, unknown, hasStrayBrace } = macros;
  if (draft.url.trim() === "") return null;
  const hasMacros = used.length > 0 || unknown.length > 0;
  const problems = unknown.map(({ name, known }) => text.unknownMacro(name, known));
  if (hasStrayBrace) problems.push(text.strayBrace);
  if (draft.method === "POST" && hasMacros) problems.push(text.noPostMacros);
  if (draft.method === "GET" && hasMacros && !used.includes("transaction_id")) problems.push(text.noTransaction);
  return (
    <div class="macro-notes" role="status">
      {problems.map((problem) => (
        <p key={problem} class="finding problem">
          <Warning /> <span>{problem}</span>
        </p>
      ))}
      {draft.method === "GET" && <p class="note">{hasMacros ? text.onlyThese : text.noMacros}</p>}
    </div>
  );
}

interface ListProps {
  used: string[];
  insert: (name: string) => void;
}

export function MacroList({ used, insert }: ListProps) {
  const columns: Column<string>[] = [
    column("macro", text.macro, (name) => <code>{`{${name}}`}</code>),
    column("meaning", text.meaning, (name) => <span class="wrap">{MACROS[name]}</span>),
    numberColumn("used", text.inUrl, (name) =>
      used.includes(name) ? (
        <span class="tag">{text.used}</span>
      ) : (
        <RowButton name={text.insert} label={text.insertMacro(name)} onClick={() => insert(name)} />
      ),
    ),
  ];
  return (
    <details class="macros">
      <summary>{text.usedMacros(used.length, MACRO_NAMES.length)}</summary>
      <Table name={text.macro} columns={columns} rows={MACRO_NAMES} rowKey={(name) => name} />
    </details>
  );
}
