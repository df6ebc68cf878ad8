// The report as a file, and as a command for a shell.

import { useRef, useState } from "preact/hooks";
import { useAction } from "../../action";
import { api } from "../../api";
import { CopyButton } from "../../components/copy-button";
import { Dialog } from "../../components/dialog";
import { Download } from "../../components/icons";
import { FormError } from "../../components/states";
import { say } from "../../components/status";
import { timeText } from "../../format";
import { common, EXPORT_HINTS, EXPORT_NAMES, reports as text } from "../../messages";
import type { ExportFormat, Query } from "../../types";
import { curl } from "./curl";
import { mainQuery } from "./queries";
import type { ReportState } from "./state";

interface Props {
  state: ReportState;
  today: string;
  /** Rows of the whole result, once it is known. */
  rows: number | null;
  dataThrough: string | null;
  reportingUrl: string | null;
}

export function ReportActions({ state, today, rows, dataThrough, reportingUrl }: Props) {
  const [isOpen, setOpen] = useState(false);
  const query = mainQuery(state, today);
  return (
    <>
      {reportingUrl && (
        <CopyButton
          label={text.curl}
          text={() => curl(reportingUrl, query, dataThrough)}
          said={() => (dataThrough ? text.curlCopied(timeText(dataThrough)) : common.copied)}
        />
      )}
      <button type="button" class="button" aria-disabled={!rows} onClick={() => rows && setOpen(true)}>
        <Download /> {text.exportTitle}
      </button>
      {isOpen && rows !== null && <ExportDialog query={query} rows={rows} onClose={() => setOpen(false)} />}
    </>
  );
}

const FORMATS: ExportFormat[] = ["csv", "csv_spreadsheet", "ndjson"];

function ExportDialog({ query, rows, onClose }: { query: Query; rows: number; onClose: () => void }) {
  const [format, setFormat] = useState<ExportFormat>("csv");
  const link = useRef<HTMLAnchorElement>(null);
  const action = useAction(async () => {
    const ticket = await api.createExport(query, format);
    // The browser writes the file as it arrives, which a script could not do with a large one.
    link.current!.href = api.exportUrl(ticket.export_id);
    link.current!.click();
    say(text.exportStarted(ticket.rows));
    onClose();
  });
  return (
    <Dialog title={text.exportTitle} onClose={onClose}>
      <p>{text.exportAll(rows)}</p>
      <fieldset class="choices">
        <legend>{text.exportFormat}</legend>
        {FORMATS.map((option) => (
          <label class="choice" key={option}>
            <input type="radio" name="format" checked={option === format} onChange={() => setFormat(option)} />
            <span>{EXPORT_NAMES[option]}</span>
            <span class="choice-hint">{EXPORT_HINTS[option]}</span>
          </label>
        ))}
      </fieldset>
      <FormError error={action.error} />
      <a ref={link} download hidden>
        {text.exportTitle}
      </a>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
        <button type="button" class="button primary" aria-disabled={action.isRunning} onClick={() => void action.run()}>
          {text.exportStart}
        </button>
      </div>
    </Dialog>
  );
}
