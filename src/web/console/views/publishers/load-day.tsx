// Replaces a day's facts by a file that is dropped or chosen. A file with a wrong line changes nothing.

import { useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { ApiError } from "../../../shared/client";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { Input } from "../../../shared/components/field";
import { Form, SubmitButton } from "../../../shared/components/form";
import { focusHeading } from "../../../shared/components/heading";
import { FormError } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { isDate, sizeText } from "../../../shared/format";
import { withVerification } from "../../../shared/passkeys";
import type { WrongLine } from "../../../shared/types";
import { publishersApi as api } from "../../api/publishers";
import { DropFile } from "../../components/drop-file";
import { facts as text } from "../../messages/publishers";
import { readTextFile, type TextFile } from "../../text-file";
import { linesOf, mediaTypeOf } from "./facts-file";

interface Props {
  publisherId: string;
  /** The day that was chosen, or none yet. */
  date: string | null;
  loadedRows: (date: string) => number;
  onLoaded: () => Promise<void>;
  onClose: () => void;
}

const ACCEPTED = ".csv,.ndjson,.jsonl,text/csv,application/x-ndjson";

export function LoadDay({ publisherId, date: chosen, loadedRows, onLoaded, onClose }: Props) {
  const [date, setDate] = useState(chosen ?? "");
  const [file, setFile] = useState<TextFile | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const round = useRef(0);
  const load = useAction(async () => {
    if (!file) return setProblem(text.noFile);
    const { rows } = await withVerification(() => api.replaceFacts(publisherId, date, file.text, mediaTypeOf(file)));
    say(text.done(date, rows));
    onClose();
    await onLoaded();
    focusHeading();
  });
  const take = async (given: File) => {
    load.clear();
    // A file that was given meanwhile counts.
    const own = ++round.current;
    const read = await readTextFile(given);
    if (own !== round.current) return;
    setFile(typeof read === "string" ? null : read);
    setProblem(typeof read === "string" ? text[read] : null);
  };
  const lines = load.error instanceof ApiError ? load.error.lines : [];
  return (
    <Dialog title={text.dialogTitle} onClose={onClose} isWide keepOpen={load.isRunning}>
      <Form onSubmit={() => void load.run()}>
        <Input label={text.day} type="date" required value={date} onChange={setDate} />
        <DropFile
          accept={ACCEPTED}
          text={text.drop}
          label={file ? text.otherFile : text.choose}
          hint={text.dropHint}
          chosen={file && text.file(file.name, linesOf(file), sizeText(file.bytes))}
          problem={problem}
          onFile={(given) => void take(given)}
        />
        <p>{isDate(date) ? text.dialogText(date, loadedRows(date)) : text.dialogText(null, 0)}</p>
        {lines.length > 0 ? <WrongLines lines={lines} /> : <FormError error={load.error} />}
        <DialogButtons onClose={onClose}>
          <SubmitButton class="button danger" isDisabled={load.isRunning}>
            {load.isRunning ? text.replacing : text.replaceIt}
          </SubmitButton>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}

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
