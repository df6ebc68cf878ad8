// The report as a command for a shell, with the public API and a report key.

import { timeText } from "../../../shared/format";
import { reports } from "../../messages";
import type { Query } from "../../types";

const PATH = "/v1/core/reporting/public/signal/report/generate";

// Inside single quotes a shell changes nothing. So a quote in the text ends the
// quoting, is escaped, and begins the quoting again.
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function curl(reportingUrl: string, query: Query, dataThrough: string | null): string {
  return [
    ...(dataThrough ? [reports.curlComment(timeText(dataThrough))] : []),
    `curl -sS ${quote(reportingUrl.replace(/\/$/, "") + PATH)} \\`,
    `  -H "X-Api-Key: $SIGNPOST_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  --data ${quote(JSON.stringify(query))}`,
  ].join("\n");
}
