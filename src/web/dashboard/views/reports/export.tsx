// The whole result as a file: its format is chosen, it is made, and the browser downloads it.

import { useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { api } from "../../api";
import { Dialog } from "../../../shared/components/dialog";
import { FormError } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { common, EXPORT_HINTS, EXPORT_NAMES, reports as text } from "../../messages";
import type { ExportFormat, Query } from "../../types";

const FORMATS: ExportFormat[] = ["csv", "spreadsheet_csv", "ndjson"];

interface Props {
  query: Query;
  rows: number;
  onClose: () => void;
}

export function ExportDialog({ query, rows, onClose }: Props) {
  const [format, setFormat] = useState<ExportFormat>("csv");
  const link = useRef<HTMLAnchorElement>(null);
  const action = useAction(async () => {
    const made = await api.createExport(query, format);
    // The browser writes the file as it arrives, which a script could not do with a large one.
    link.current!.href = api.exportUrl(made.export_id);
    link.current!.click();
    say(text.exportStarted(made.rows));
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
      <p class="note">{text.exportBroken}</p>
      <FormError error={action.error} />
      <a ref={link} download hidden>
        {text.exportTitle}
      </a>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {common.cancel}
        </button>
        <button
          type="button"
          class="button primary"
          aria-disabled={action.isRunning}
          aria-busy={action.isRunning}
          onClick={() => void action.run()}
        >
          {action.isRunning ? text.exportPreparing : text.exportStart}
        </button>
      </div>
    </Dialog>
  );
}
