// The report as a command for a shell.

import { CopyButton } from "../../components/copy-button";
import { timeText } from "../../format";
import { common, reports as text } from "../../messages";
import { curl } from "./curl";
import { mainQuery } from "./queries";
import type { ReportState } from "./state";

interface Props {
  state: ReportState;
  today: string;
  dataThrough: string | null;
  reportingUrl: string | null;
}

export function ReportActions({ state, today, dataThrough, reportingUrl }: Props) {
  if (!reportingUrl) return null;
  return (
    <CopyButton
      label={text.curl}
      text={() => curl(reportingUrl, mainQuery(state, today), dataThrough)}
      said={() => (dataThrough ? text.curlCopied(timeText(dataThrough)) : common.copied)}
    />
  );
}
