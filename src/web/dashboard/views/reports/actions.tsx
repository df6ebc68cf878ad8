// The report as a command for a shell, and as a file.

import { useState } from "preact/hooks";
import { CopyButton } from "../../../shared/components/copy-button";
import { Download } from "../../../shared/components/icons";
import { timeText } from "../../../shared/format";
import { common, reports as text } from "../../messages";
import { curl } from "./curl";
import { ExportDialog } from "./export";
import type { Days } from "./periods";
import { mainQuery } from "./queries";
import type { ReportState } from "./state";

interface Props {
  state: ReportState;
  days: Days;
  /** Rows of the whole result, once it is known. */
  rows: number | null;
  dataThrough: string | null;
  reportingUrl: string | null;
}

export function ReportActions({ state, days, rows, dataThrough, reportingUrl }: Props) {
  const [isOpen, setOpen] = useState(false);
  const query = mainQuery(state, days);
  return (
    <>
      {reportingUrl && (
        <CopyButton
          label={text.curl}
          text={() => curl(reportingUrl, query, dataThrough)}
          said={() => (dataThrough ? text.curlCopied(timeText(dataThrough)) : common.copied)}
        />
      )}
      <button
        type="button"
        class="button"
        aria-disabled={!rows}
        title={rows === 0 ? text.exportNothing : undefined}
        onClick={() => rows && setOpen(true)}
      >
        <Download /> {text.exportTitle}
      </button>
      {isOpen && rows !== null && <ExportDialog query={query} rows={rows} onClose={() => setOpen(false)} />}
    </>
  );
}
