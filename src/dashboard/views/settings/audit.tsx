// The audit log, newest first; older entries are added below.

import { useState } from "preact/hooks";
import { useAction } from "../../action";
import { api } from "../../api";
import { useCached } from "../../cache";
import { Empty, Failed, FormError, Stale } from "../../components/states";
import { type Column, Table, TableSkeleton } from "../../components/table";
import { timeText } from "../../format";
import { AUDIT_ACTIONS, SECTION_NAMES, settings } from "../../messages";
import type { AuditEntry, AuditPage } from "../../types";
import { Page } from "./page";

const text = settings.audit;

const COLUMNS: Column<AuditEntry>[] = [
  { key: "at", header: text.at, cell: (entry) => <span class="no-wrap">{timeText(entry.at)}</span> },
  { key: "by", header: text.by, cell: (entry) => entry.by },
  { key: "action", header: text.action, cell: (entry) => AUDIT_ACTIONS[entry.action] ?? entry.action },
  {
    key: "subject",
    header: text.subject,
    // People know a key by its label, which is the detail.
    cell: ({ action, subject, detail }) =>
      action === "report_key_created" ? twoLines(detail, subject) : twoLines(subject, detail),
  },
];

function twoLines(first: string | null, second: string | null) {
  return first && second ? (
    <>
      {first}
      <span class="cell-second">{second}</span>
    </>
  ) : (
    (first ?? second)
  );
}

export function Audit() {
  const newest = useCached("audit", () => api.audit(null));
  // Older pages hold on to the first page that they continue, so that a refresh leaves no gap between them.
  const [kept, setKept] = useState<AuditPage | null>(null);
  const page = kept ?? newest.data;
  const more = useAction(async () => {
    const next = await api.audit(page!.cursor);
    setKept({ entries: [...page!.entries, ...next.entries], cursor: next.cursor });
  });
  return (
    <Page section="audit" note={text.intro}>
      <Stale of={newest} retry={newest.reload} />
      {!page ? (
        newest.error ? (
          <Failed error={newest.error} retry={newest.reload} />
        ) : (
          <div class="card">
            <TableSkeleton rows={8} />
          </div>
        )
      ) : page.entries.length === 0 ? (
        <Empty title={text.emptyTitle}>{text.empty}</Empty>
      ) : (
        <>
          <div class="card table-card">
            <Table
              stacks
              name={SECTION_NAMES.audit}
              columns={COLUMNS}
              rows={page.entries}
              rowKey={(entry) => `${entry.at} ${entry.by} ${entry.action} ${entry.subject}`}
            />
          </div>
          <FormError error={more.error} />
          {page.cursor ? (
            <button type="button" class="button" aria-disabled={more.isRunning} onClick={() => void more.run()}>
              {text.more}
            </button>
          ) : (
            <p class="note">{text.end}</p>
          )}
        </>
      )}
    </Page>
  );
}
