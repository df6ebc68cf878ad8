// The import of a file, which is checked first.

import { useRef, useState } from "preact/hooks";
import { type Action, useAction } from "../../../shared/action";
import { refresh } from "../../../shared/cache";
import { ApiError } from "../../../shared/client";
import { Button, LinkButton, RunButton } from "../../../shared/components/button";
import { Card } from "../../../shared/components/part";
import { focusHeading, Heading } from "../../../shared/components/heading";
import { Check, Warning } from "../../../shared/components/icons";
import { FormError, Refused } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { type Column, column, numberColumn, Table, type TableProps } from "../../../shared/components/table";
import { count, exactMoney, sizeText } from "../../../shared/format";
import type { WrongLine } from "../../../shared/types";
import type { WouldImport } from "../../../shared/generated/openapi";
import { post } from "../../api";
import { DropFile } from "../../components/drop-file";
import { common } from "../../messages";
import { importText as text } from "../../messages/import";
import { OFFERS_PATH, offerPath } from "../../router";
import { may } from "../../session";
import { readTextFile, type TextFile } from "../../text-file";
import { kindsOf, subjectOf } from "./import-file";
import { offersKey } from "../cache-keys";

// Maximum wrong lines and maximum payouts that the API lists.
const MAX_WRONG_LINES = 20;
const MAX_PAYOUTS = 200;
const NDJSON = { "Content-Type": "application/x-ndjson" };
const ACCEPTED = ".ndjson,.jsonl,.json,.txt,application/x-ndjson";

export function Import() {
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        <LinkButton href={OFFERS_PATH}>{text.toOffers}</LinkButton>
      </Heading>
      {may("manage") ? <Steps /> : <Refused />}
    </>
  );
}

const wrongLines = (error: unknown): WrongLine[] => (error instanceof ApiError ? error.lines : []);

function Steps() {
  const [file, setFile] = useState<TextFile | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [checked, setChecked] = useState<(WouldImport & { kinds: string }) | null>(null);
  const [imported, setImported] = useState<number | null>(null);
  const check = useAction(async (chosen: TextFile) => {
    const would = (await post("/import", { dry_run: "true" }, chosen.text, NDJSON)) as WouldImport;
    const kinds = [...kindsOf(chosen)].map(([kind, value]) => text.kind(kind, value));
    setChecked({ ...would, kinds: text.kinds(kinds) });
  });
  const view = useRef<HTMLDivElement>(null);
  const store = useAction(async () => {
    const { imported: value } = (await post("/import", {}, file!.text, NDJSON)) as { imported: number };
    say(text.imported(value));
    setImported(value);
    void refresh(offersKey());
    if (view.current?.isConnected) focusHeading();
  });
  const choose = async (chosen: File) => {
    check.clear();
    store.clear();
    setChecked(null);
    setImported(null);
    setProblem(null);
    setFile(null);
    const read = await readTextFile(chosen);
    if (typeof read === "string") return setProblem(text[read]);
    setFile(read);
    await check.run(read);
  };
  const wrong = wrongLines(check.error);
  return (
    <>
      <div class="card padded" ref={view}>
        <DropFile
          accept={ACCEPTED}
          text={text.drop}
          label={file ? text.again : text.choose}
          hint={text.or}
          chosen={file && text.chosen(file.name, sizeText(file.bytes))}
          problem={problem}
          isBusy={check.isRunning || store.isRunning}
          onFile={(chosen) => void choose(chosen)}
        />
      </div>
      <div role="status">
        {file && check.isRunning && <p class="note import-state">{text.checking(file.name)}</p>}
        {imported !== null && (
          <Card title={text.done(imported)}>
            <p>{text.doneText}</p>
          </Card>
        )}
      </div>
      {file && wrong.length > 0 && <WrongLines file={file} lines={wrong} />}
      {file && check.error !== null && wrong.length === 0 && (
        <div class="import-state">
          <FormError error={check.error} />
          <Button onClick={() => void check.run(file)}>{common.retry}</Button>
        </div>
      )}
      {file && checked && imported === null && <Ready checked={checked} store={store} />}
    </>
  );
}

interface ReadyProps {
  checked: WouldImport & { kinds: string };
  store: Action<[]>;
}

function Ready({ checked, store }: ReadyProps) {
  const { would_import: resources, kinds, payouts } = checked;
  const isEmpty = resources === 0;
  if (isEmpty || checked.new + checked.changed === 0) {
    return (
      <Card title={isEmpty ? text.nothing : text.same}>
        <p>{isEmpty ? text.nothingText : text.sameText}</p>
      </Card>
    );
  }
  return (
    <>
      <section class="card padded part" role="status">
        <h2>
          <Check /> {text.ready(resources)}
        </h2>
        <p class="note">{text.readyText}</p>
        {kinds && <p>{kinds}</p>}
        <p>{text.changes(checked)}</p>
        <RunButton class="button primary import-button" of={store}>
          {text.import(resources)}
        </RunButton>
        <FormError error={store.error} />
      </section>
      {payouts.length > 0 && <Payouts payouts={payouts} />}
    </>
  );
}

type PayoutChange = WouldImport["payouts"][number];

const PAYOUT_COLUMNS: Column<PayoutChange>[] = [
  column("offer", text.offer, ({ offer_id: id }) => <a href={offerPath(id)}>{id}</a>),
  column("goal", text.goal, ({ goal_id: id }) => id),
  numberColumn("before", text.payoutNow, ({ before_usd: before }) => exactMoney(before)),
  numberColumn("after", text.payoutAfter, ({ after_usd: after }) => exactMoney(after)),
];

interface WarnedProps<Row> extends TableProps<Row> {
  role?: "alert";
  note: string;
}

/** A table that is read before the import. */
const Warned = <Row,>({ role, note, ...table }: WarnedProps<Row>) => (
  <section class="card table-card" role={role} aria-label={table.name}>
    <div class="card-head">
      <h2>
        <Warning /> {table.name}
      </h2>
      <p class="note">{note}</p>
    </div>
    <Table {...table} />
  </section>
);

const Payouts = ({ payouts }: { payouts: PayoutChange[] }) => (
  <Warned
    note={text.payoutsText}
    name={text.payouts(payouts.length, payouts.length < MAX_PAYOUTS)}
    columns={PAYOUT_COLUMNS}
    rows={payouts}
    rowKey={({ offer_id, goal_id }) => `${offer_id} ${goal_id}`}
  />
);

function WrongLines({ file, lines }: { file: TextFile; lines: WrongLine[] }) {
  const columns: Column<WrongLine>[] = [
    column("line", text.line, ({ line }) => count(line)),
    column("problem", text.problem, ({ message, line }) => (
      <div class="wrap">
        {message}
        <span class="cell-second">{subjectOf(file, line)}</span>
      </div>
    )),
  ];
  return (
    <Warned
      role="alert"
      note={text.wrongText(file.name)}
      class="import-lines"
      name={text.wrong(lines.length, lines.length < MAX_WRONG_LINES)}
      columns={columns}
      rows={lines}
      rowKey={({ line, message }) => `${line} ${message}`}
    />
  );
}
