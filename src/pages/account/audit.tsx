// The audit log, newest first; older entries are added below.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../action";
import { accountApi as api } from "../account-api";
import { useCached } from "../cache";
import { Empty, Failed, FormError, Stale } from "../components/states";
import { type Column, Table, TableSkeleton } from "../components/table";
import { timeText } from "../format";
import { AUDIT_ACTIONS, auditDetail, SECTION_NAMES, settings } from "../messages";
import type { AuditEntry, AuditPage } from "../types";
import { Page } from "./page";
import { type Named, Person, sharedNames } from "./person";

const text = settings.audit;

function peopleOf({ by, actor_id, subject, subject_id }: AuditEntry): Named[] {
  const actor = { name: by, id: actor_id };
  return subject && subject_id ? [actor, { name: subject, id: subject_id }] : [actor];
}

function columns(entries: AuditEntry[]): Column<AuditEntry>[] {
  const shared = sharedNames(entries.flatMap(peopleOf));
  return [
    { key: "at", header: text.at, cell: (entry) => <span class="no-wrap">{timeText(entry.at)}</span> },
    { key: "by", header: text.by, cell: (entry) => <Person name={entry.by} id={entry.actor_id} shared={shared} /> },
    {
      key: "action",
      header: text.action,
      cell: (entry) => (
        <>
          {AUDIT_ACTIONS[entry.action] ?? entry.action}
          {entry.is_unconfirmed && <span class="cell-second">{text.unconfirmed}</span>}
        </>
      ),
    },
    {
      key: "subject",
      header: text.subject,
      cell: (entry) => {
        const subject = entry.subject && <Person name={entry.subject} id={entry.subject_id} shared={shared} />;
        const detail = auditDetail(entry.action, entry.detail);
        // People know a key and an app by its name, which is the detail.
        return ["report_key_created", "app_created"].includes(entry.action)
          ? twoLines(detail, subject)
          : twoLines(subject, detail);
      },
    },
  ];
}

function twoLines(first: ComponentChildren, second: ComponentChildren) {
  return first && second ? (
    <>
      {first}
      <span class="cell-second">{second}</span>
    </>
  ) : (
    (first ?? second)
  );
}

export const Audit = () => (
  <Page section="audit" note={text.intro}>
    <AuditEntries cacheKey="audit" load={api.audit} />
  </Page>
);

interface Props {
  cacheKey: string;
  load: (cursor: string | null) => Promise<AuditPage>;
}

/** The audit of an account, which need not be the site's own. */
export function AuditEntries({ cacheKey, load }: Props) {
  const newest = useCached(cacheKey, () => load(null));
  // Older pages hold on to the first page that they continue, so that a refresh leaves no gap between them.
  const [kept, setKept] = useState<AuditPage | null>(null);
  const page = kept ?? newest.data;
  const more = useAction(async () => {
    const next = await load(page!.cursor);
    setKept({ entries: [...page!.entries, ...next.entries], cursor: next.cursor });
  });
  return (
    <>
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
              columns={columns(page.entries)}
              rows={page.entries}
              rowKey={(entry) => `${entry.at} ${entry.actor_id ?? entry.by} ${entry.action} ${entry.subject_id ?? entry.subject}`}
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
    </>
  );
}
