// The whole result as a file: its format is chosen, it is made, and the browser downloads it.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { post } from "../../api";
import { BASE, id } from "../../../shared/client";
import { PrimaryRun } from "../../../shared/components/button";
import { Choices } from "../../../shared/components/choices";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { FormError } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { EXPORT_HINTS, EXPORT_NAMES, reports as text } from "../../messages";
import type { ExportFormat, Query } from "../../types";

const FORMATS: ExportFormat[] = ["csv", "spreadsheet_csv", "ndjson"];

export function ExportDialog({ query, rows, onClose }: { query: Query; rows: number; onClose: () => void }) {
  const [format, setFormat] = useState<ExportFormat>("csv");
  const action = useAction(async () => {
    const made = await post("/exports", {}, { query, format });
    // The browser writes the file as it arrives, which a script could not do with a large one.
    Object.assign(document.createElement("a"), { href: `${BASE}/exports/${id(made.export_id)}`, download: "" }).click();
    say(text.exportStarted(made.rows));
    onClose();
  });
  return (
    <Dialog title={text.exportTitle} onClose={onClose}>
      <p>{text.exportAll(rows)}</p>
      <Choices
        kind="radio"
        name={text.exportFormat}
        choices={FORMATS.map((value) => ({ value, label: EXPORT_NAMES[value], hint: EXPORT_HINTS[value] }))}
        chosen={[format]}
        onChange={([chosen]) => setFormat(chosen!)}
      />
      <p class="note">{text.exportBroken}</p>
      <FormError error={action.error} />
      <DialogButtons onClose={onClose}>
        <PrimaryRun of={action}>{action.isRunning ? text.exportPreparing : text.exportStart}</PrimaryRun>
      </DialogButtons>
    </Dialog>
  );
}
