// Report keys of a publisher: create one, see when it was last used, revoke it.

import { useState } from "preact/hooks";
import { useCached } from "../../../pages/cache";
import { Confirm, FormDialog, SecretDialog, TextField } from "../../../pages/components/dialog";
import { focusHeading } from "../../../pages/components/heading";
import { Plus } from "../../../pages/components/icons";
import { Empty, Failed, Stale } from "../../../pages/components/states";
import { say } from "../../../pages/components/status";
import { type Column, Table, TableSkeleton } from "../../../pages/components/table";
import { timeText } from "../../../pages/format";
import { withVerification } from "../../../pages/passkeys";
import { publishersApi as api } from "../../api/publishers";
import { common } from "../../messages";
import { keys as text } from "../../messages/publishers";
import { may } from "../../session";
import type { ReportKey } from "../../types/publishers";

export function ReportKeys({ publisherId }: { publisherId: string }) {
  const keys = useCached(`report_keys ${publisherId}`, () => api.reportKeys(publisherId));
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ReportKey | null>(null);
  const list = keys.data?.report_keys;
  return (
    <section aria-labelledby="report-keys-title">
      <div class="section-head">
        <div>
          <h2 id="report-keys-title">{text.reportTitle}</h2>
          <p class="note">{text.reportIntro}</p>
        </div>
        {may("manage") && (
          <button type="button" class="button" onClick={() => setCreating(true)}>
            <Plus /> {text.create}
          </button>
        )}
      </div>
      <Stale of={keys} retry={keys.reload} />
      {!list ? (
        keys.error ? (
          <Failed error={keys.error} retry={keys.reload} />
        ) : (
          <div class="card">
            <TableSkeleton rows={3} />
          </div>
        )
      ) : list.length === 0 ? (
        <Empty title={text.emptyTitle}>{text.empty}</Empty>
      ) : (
        <div class="card table-card">
          <Table
            stacks
            name={text.reportTitle}
            columns={columns(setRevoked)}
            rows={list}
            rowKey={(key) => key.key_id}
          />
        </div>
      )}
      {isCreating && (
        <Create
          publisherId={publisherId}
          onClose={() => {
            setCreating(false);
            void keys.reload();
          }}
        />
      )}
      {revoked && (
        <Confirm
          title={text.revokeTitle(revoked.label)}
          text={text.revokeText}
          button={text.revoke}
          dangerous
          onConfirm={async () => {
            await withVerification(() => api.revokeReportKey(publisherId, revoked.key_id));
            say(text.revoked(revoked.label));
            setRevoked(null);
            await keys.reload();
            focusHeading();
          }}
          onClose={() => setRevoked(null)}
        />
      )}
    </section>
  );
}

const columns = (revoke: (key: ReportKey) => void): Column<ReportKey>[] => [
  {
    key: "label",
    header: text.label,
    cell: ({ label, key_id: id }) => (
      <>
        {label} <code class="cell-second">{id}</code>
      </>
    ),
  },
  {
    key: "created",
    header: text.createdAt,
    cell: ({ created_at: at, created_by: by }) => (
      <>
        {timeText(at)}
        <span class="cell-second">{text.by(by.name)}</span>
      </>
    ),
  },
  {
    key: "used",
    header: text.lastUsed,
    cell: ({ last_used_at: at }) => (at === null ? common.never : timeText(at)),
  },
  {
    key: "revoke",
    header: text.revoke,
    isHeaderHidden: true,
    isNumber: true,
    cell: (key) =>
      may("manage") && (
        <button
          type="button"
          class="button small danger-text"
          aria-label={text.revokeOf(key.label)}
          onClick={() => revoke(key)}
        >
          {text.revoke}
        </button>
      ),
  },
];

const LONGEST_LABEL = 100;

function Create({ publisherId, onClose }: { publisherId: string; onClose: () => void }) {
  const [label, setLabel] = useState("");
  const [made, setMade] = useState<string | null>(null);
  if (made !== null) {
    return (
      <SecretDialog key="made" title={text.madeTitle} text={text.made} label={text.newKey} value={made} onClose={onClose} />
    );
  }
  return (
    <FormDialog
      key="form"
      title={text.create}
      button={text.create}
      onSubmit={async () => {
        const { api_key: key } = await withVerification(() => api.createReportKey(publisherId, label.trim()));
        setMade(key);
      }}
      onClose={onClose}
    >
      <TextField label={text.label} hint={text.labelHint} longest={LONGEST_LABEL} value={label} onChange={setLabel} />
    </FormDialog>
  );
}
