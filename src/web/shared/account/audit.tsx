// The audit log, newest first; older entries are added below.

import type { ComponentChildren } from "preact";
import { get } from "../api";
import { LoadedTable } from "../components/loaded";
import { More } from "../components/more";
import { Empty } from "../components/states";
import { type Column, column } from "../components/table";
import { timeText } from "../format";
import { SECTION_NAMES } from "../messages";
import { AUDIT_ACTIONS, auditDetail } from "../messages/audit";
import { settings } from "../messages/settings";
import { pageOf } from "../page-of";
import type { AuditEntry, AuditPage } from "../types";
import { usePages } from "../use-pages";
import { Page } from "./page";
import { type Named, Person, sharedNames } from "./person";

const text = settings.audit;

/** The texts for the entries of an account. */
export interface AuditWords {
  intro: string;
  action: (entry: AuditEntry) => string;
  /** The subject of an entry, with links. Without it, the subject's name in the entry is shown without a link. */
  subject?: (entry: AuditEntry) => ComponentChildren;
  detail: (entry: AuditEntry) => string | null;
}

/** The texts that the accounts of both sites share. */
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
    column("at", text.at, (entry) => <span class="no-wrap">{timeText(entry.at)}</span>),
    column("by", text.by, (entry) => <Person name={entry.by} id={entry.actor_id} shared={shared} />),
    column("action", text.action, (entry) => (
      <>
        {words.action(entry)}
        {entry.is_unconfirmed && <span class="cell-second">{text.unconfirmed}</span>}
      </>
    )),
    column("subject", text.subject, (entry) => {
      const detail = words.detail(entry);
      const linked = words.subject?.(entry);
      if (linked) return twoLines(linked, detail);
      const subject = entry.subject && <Person name={entry.subject} id={entry.subject_id} shared={shared} />;
      // For a new key or app the detail comes first, because it has the name by which people know the key or the app.
      return ["report_key_created", "app_created"].includes(entry.action)
        ? twoLines(detail, subject)
        : twoLines(subject, detail);
    }),
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
    <AuditEntries cacheKey="audit" load={(cursor) => get("/audit", { limit: 50, cursor })} words={words} />
  </Page>
);

interface Props {
  cacheKey: string;
  load: (cursor: string | null) => Promise<AuditPage>;
  words?: AuditWords;
}

/** The audit of an account, which need not be the site's own. */
export function AuditEntries({ cacheKey, load, words = SHARED_WORDS }: Props) {
  const pages = usePages(cacheKey, (cursor) => load(cursor).then(pageOf("entries")));
  return (
    <LoadedTable
      of={pages.list}
      lines={8}
      empty={<Empty title={text.emptyTitle}>{text.empty}</Empty>}
      name={SECTION_NAMES.audit}
      columns={columns(pages.rows ?? [], words)}
      rowKey={(_, index) => index}
    >
      <More of={pages} label={text.more} />
      {!pages.hasMore && <p class="note">{text.end}</p>}
    </LoadedTable>
  );
}
