// Report keys: create one, see when it was last used, revoke it.

import { useState } from "preact/hooks";
import { api } from "../../api";
import { useCached } from "../../../pages/cache";
import { Confirm, FormDialog, SecretDialog, TextField } from "../../../pages/components/dialog";
import { focusHeading } from "../../../pages/components/heading";
import { Plus } from "../../../pages/components/icons";
import { Empty, Failed, Stale } from "../../../pages/components/states";
import { say } from "../../../pages/components/status";
import { type Column, Table, TableSkeleton } from "../../../pages/components/table";
import { timeText } from "../../../pages/format";
import { common, SECTION_NAMES, settings } from "../../messages";
import { withVerification } from "../../../pages/passkeys";
import type { NewReportKey, ReportKey } from "../../types";
import { Page } from "../../../pages/account/page";

const text = settings.keys;

export function Keys() {
  const keys = useCached("report_keys", api.reportKeys);
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ReportKey | null>(null);

  const columns: Column<ReportKey>[] = [
    { key: "label", header: text.label, cell: (key) => key.label },
    {
      key: "created",
      header: settings.createdAt,
      cell: (key) => (
        <>
          {timeText(key.created_at)}
          <span class="cell-second">{text.by(key.created_by.name)}</span>
        </>
      ),
    },
    {
      key: "used",
      header: settings.lastUsed,
      cell: (key) => (key.last_used_at ? timeText(key.last_used_at) : common.never),
    },
    {
      key: "revoke",
      header: text.revoke,
      isHeaderHidden: true,
      isNumber: true,
      cell: (key) => (
        <button
          type="button"
          class="button small danger-text"
          aria-label={`${text.revoke} ${key.label}`}
          onClick={() => setRevoked(key)}
        >
          {text.revoke}
        </button>
      ),
    },
  ];
  const create = (
    <button type="button" class="button primary" onClick={() => setCreating(true)}>
      <Plus /> {text.create}
    </button>
  );
  const list = keys.data?.report_keys;
  return (
    <Page section="keys" note={text.intro} actions={create}>
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
          <Table stacks name={SECTION_NAMES.keys} columns={columns} rows={list} rowKey={(key) => key.key_id} />
        </div>
      )}
      {isCreating && (
        <CreateKey
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
            await withVerification(() => api.revokeReportKey(revoked.key_id));
            say(text.revoked(revoked.label));
            setRevoked(null);
            await keys.reload();
            focusHeading();
          }}
          onClose={() => setRevoked(null)}
        />
      )}
    </Page>
  );
}

const LONGEST_LABEL = 64;

function CreateKey({ onClose }: { onClose: () => void }) {
  const [label, setLabel] = useState("");
  const [made, setMade] = useState<NewReportKey | null>(null);
  if (made) {
    return (
      <SecretDialog
        key="made"
        title={text.madeTitle}
        text={text.made}
        label={text.newKey}
        value={made.api_key}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      key="form"
      title={text.create}
      button={text.create}
      onSubmit={async () => setMade(await withVerification(() => api.createReportKey(label.trim())))}
      onClose={onClose}
    >
      <TextField label={text.label} hint={text.labelHint} longest={LONGEST_LABEL} value={label} onChange={setLabel} />
    </FormDialog>
  );
}
