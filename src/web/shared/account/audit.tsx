// The audit log, newest first; older entries are added below.

import type { ComponentChildren } from "preact";
import { accountApi as api } from "../account-api";
import { More } from "../components/more";
import { Empty, Failed, Stale } from "../components/states";
import { type Column, Table, TableSkeleton } from "../components/table";
import { timeText } from "../format";
import { AUDIT_ACTIONS, auditDetail, SECTION_NAMES, settings } from "../messages";
import type { AuditEntry, AuditPage } from "../types";
import { usePages } from "../use-pages";
import { Page } from "./page";
import { type Named, Person, sharedNames } from "./person";

const text = settings.audit;

/** What is said of the entries of an account. */
export interface AuditWords {
  intro: string;
  action: (entry: AuditEntry) => string;
  /** What it concerned, with links; nothing where the entry's own name for it will do. */
  subject?: (entry: AuditEntry) => ComponentChildren;
  detail: (entry: AuditEntry) => string | null;
}

/** Of the accounts of both sites. */
const SHARED_WORDS: AuditWords = {
  intro: text.intro,
  action: ({ action }) => AUDIT_ACTIONS[action] ?? action,
  detail: ({ action, detail }) => auditDetail(action, detail),
};

function peopleOf({ by, actor_id, subject, subject_id }: AuditEntry): Named[] {
  const actor = { name: by, id: actor_id };
  return subject && subject_id ? [actor, { name: subject, id: subject_id }] : [actor];
}

function columns(entries: AuditEntry[], words: AuditWords): Column<AuditEntry>[] {
  const shared = sharedNames(entries.flatMap(peopleOf));
  return [
    { key: "at", header: text.at, cell: (entry) => <span class="no-wrap">{timeText(entry.at)}</span> },
    { key: "by", header: text.by, cell: (entry) => <Person name={entry.by} id={entry.actor_id} shared={shared} /> },
    {
      key: "action",
      header: text.action,
      cell: (entry) => (
        <>
          {words.action(entry)}
          {entry.is_unconfirmed && <span class="cell-second">{text.unconfirmed}</span>}
        </>
      ),
    },
    {
      key: "subject",
      header: text.subject,
      cell: (entry) => {
        const detail = words.detail(entry);
        const linked = words.subject?.(entry);
        if (linked) return twoLines(linked, detail);
        const subject = entry.subject && <Person name={entry.subject} id={entry.subject_id} shared={shared} />;
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
      <span class="cell-second wrap">{second}</span>
    </>
  ) : (
    (first ?? second)
  );
}

export const Audit = () => <AuditWith words={SHARED_WORDS} />;

/** The audit of the site's own account, in the site's words. */
export const AuditWith = ({ words }: { words: AuditWords }) => (
  <Page section="audit" note={words.intro}>
    <AuditEntries cacheKey="audit" load={api.audit} words={words} />
  </Page>
);

interface Props {
  cacheKey: string;
  load: (cursor: string | null) => Promise<AuditPage>;
  words?: AuditWords;
}

/** The audit of an account, which need not be the site's own. */
export function AuditEntries({ cacheKey, load, words = SHARED_WORDS }: Props) {
  const pages = usePages<AuditEntry>(cacheKey, async (from) => {
    const { entries, cursor } = await load(from);
    return { rows: entries, cursor };
  });
  const { first, rows, hasMore, reload } = pages;
  return (
    <>
      <Stale of={first} retry={reload} />
      {!rows ? (
        first.error ? (
          <Failed error={first.error} retry={reload} />
        ) : (
          <div class="card">
            <TableSkeleton rows={8} />
          </div>
        )
      ) : rows.length === 0 ? (
        <Empty title={text.emptyTitle}>{text.empty}</Empty>
      ) : (
        <>
          <div class="card table-card">
            <Table
              stacks
              name={SECTION_NAMES.audit}
              columns={columns(rows, words)}
              rows={rows}
              rowKey={(_, index) => index}
            />
          </div>
          <More of={pages} label={text.more} />
          {!hasMore && <p class="note">{text.end}</p>}
        </>
      )}
    </>
  );
}
