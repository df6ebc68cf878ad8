// Replaces a day's facts with a file that is dropped or chosen. The dialog first shows what would change. A file with a
// wrong line changes nothing.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { ApiError } from "../../../shared/client";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { DateInput } from "../../../shared/components/field";
import { Form, SubmitButton } from "../../../shared/components/form";
import { focusHeading } from "../../../shared/components/heading";
import { FormError } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { isDate, sizeText } from "../../../shared/format";
import type { WrongLine } from "../../../shared/types";
import type { FactsReplaced } from "../../../shared/generated/openapi";
import { put } from "../../api";
import { DropFile } from "../../components/drop-file";
import { facts as text } from "../../messages/publishers";
import { readTextFile, type TextFile } from "../../text-file";
import { ChangedSums } from "./changed-sums";
import { linesOf, mediaTypeOf } from "./facts-file";

interface Props {
  publisherId: string;
  /** The day that was chosen, or none yet. */
  date: string | null;
  loadedRows: (date: string) => number;
  onLoaded: () => Promise<unknown>;
  onClose: () => void;
}

const ACCEPTED = ".csv,.ndjson,.jsonl,text/csv,application/x-ndjson";

/** A dry run only returns what the file would change. */
const send = (publisher_id: string, date: string, file: TextFile, dry_run?: "true") =>
  put("/publishers/{publisher_id}/facts/{date}", { publisher_id, date, dry_run }, file.text, {
    "Content-Type": mediaTypeOf(file),
  });

export function LoadDay({ publisherId, date: chosen, loadedRows, onLoaded, onClose }: Props) {
  const [date, setDate] = useState(chosen ?? "");
  const [file, setFile] = useState<TextFile | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const round = useRef(0);
  const load = useAction(async () => {
    if (!file) return setProblem(text.noFile);
    const { rows } = await send(publisherId, date, file);
    say(text.done(date, rows));
    onClose();
    await onLoaded();
    focusHeading();
  });
  const take = async (given: File) => {
    load.clear();
    // If another file is given while this one is read, only the newest counts.
    const own = ++round.current;
    const read = await readTextFile(given);
    if (own !== round.current) return;
    setFile(typeof read === "string" ? null : read);
    setProblem(typeof read === "string" ? text[read] : null);
  };
  const check = useCheck(publisherId, date, file);
  const error = load.error ?? check?.error;
  const lines = error instanceof ApiError ? error.lines : [];
  const isWrong = lines.length > 0;
  return (
    <Dialog title={text.dialogTitle} onClose={onClose} isWide keepOpen={load.isRunning}>
      <Form onSubmit={() => isDate(date) && !isWrong && void load.run()}>
        <DateInput label={text.day} required value={date} onChange={setDate} />
        <DropFile
          accept={ACCEPTED}
          text={text.drop}
          label={file ? text.otherFile : text.choose}
          hint={text.dropHint}
          chosen={file && text.file(file.name, linesOf(file), sizeText(file.bytes))}
          problem={problem}
          onFile={(given) => void take(given)}
        />
        {!isWrong && <p>{isDate(date) ? text.dialogText(date, loadedRows(date)) : text.dialogText(null, 0)}</p>}
        {check && !error && <Preview found={check.found} />}
        {isWrong ? <WrongLines lines={lines} /> : <FormError error={error} />}
        <DialogButtons onClose={onClose}>
          <SubmitButton class="button danger" isDisabled={load.isRunning || isWrong}>
            {load.isRunning ? text.replacing : text.replaceIt}
          </SubmitButton>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}

interface Check {
  /** Null while the check runs, and after it failed. */
  found: Required<FactsReplaced> | null;
  error: unknown;
}

// Wait for a pause, because a date that is being typed passes through several dates.
const TYPING_MILLISECONDS = 400;

/** The changes that a file would make; null without a file or a day. */
function useCheck(publisherId: string, date: string, file: TextFile | null): Check | null {
  const [check, setCheck] = useState<Check | null>(null);
  useEffect(() => {
    if (!file || !isDate(date)) return setCheck(null);
    setCheck({ found: null, error: null });
    let isCurrent = true;
    const ask = async () => {
      try {
        const found = (await send(publisherId, date, file, "true")) as Required<FactsReplaced>;
        if (isCurrent) setCheck({ found, error: null });
      } catch (error) {
        if (isCurrent) setCheck({ found: null, error });
      }
    };
    const timer = setTimeout(() => void ask(), TYPING_MILLISECONDS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [publisherId, date, file]);
  return check;
}

const Preview = ({ found }: Pick<Check, "found">) => (
  <>
    <div class="comparison" role="status">
      {!found ? (
        <p>{text.checking}</p>
      ) : found.changed === 0 ? (
        <p>
          <b>{text.nothingChanges}</b>
        </p>
      ) : (
        <p class="verdict">{text.changes(found.changed, found.changes.length)}</p>
      )}
    </div>
    {found && found.changes.length > 0 && <ChangedSums rows={found.changes} />}
  </>
);

function WrongLines({ lines }: { lines: WrongLine[] }) {
  return (
    <div class="wrong-lines" role="alert">
      <p class="failed-text">
        <b>{text.wrongTitle}.</b> {text.wrongText(lines.length)}
      </p>
      <ul aria-label={text.wrongTitle}>
        {lines.map(({ line, column, message }) => (
          <li key={`${line} ${column} ${message}`}>
            {text.line(line)} {column && <code>{column}</code>} {message}
          </li>
        ))}
      </ul>
    </div>
  );
}
