// The report keys of an account: create one, see when it was last used, revoke it. The sites have calls and words of
// their own.

import { AddButton } from "./components/button";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useCached } from "./cache";
import { confirmed } from "./change";
import { Choices } from "./components/choices";
import { Confirm, FormDialog, SecretDialog, TextField } from "./components/form-dialog";
import { LoadedTable } from "./components/loaded";
import { buttonColumn } from "./components/row-button";
import { Empty } from "./components/states";
import { type Column, column } from "./components/table";
import { timeText } from "./format";
import { common, SECTION_NAMES } from "./messages";
import { settings } from "./messages/settings";
import { SCOPE_HINTS, SCOPE_NAMES, reportKeys as text } from "./messages/report-keys";
import { withVerification } from "./passkeys";
import type { KeyScope, NewReportKey, ReportKey, ReportKeyList } from "./types";

interface Props {
  cacheKey: string;
  calls: {
    list: () => Promise<ReportKeyList>;
    create: (label: string, scope: KeyScope) => Promise<NewReportKey>;
    revoke: (keyId: string) => Promise<void>;
  };
  words: { empty: string; labelHint: string; made: string; revokeText: string };
  longestLabel: number;
  mayChange: boolean;
  /** Whether the member may make keys that read or erase users. */
  mayReachUsers?: boolean;
  /** What stands around the list, with the button for a new key. */
  frame: (create: ComponentChildren, list: ComponentChildren) => ComponentChildren;
}

export function ReportKeys({ cacheKey, calls, words, longestLabel, mayChange, mayReachUsers = true, frame }: Props) {
  const keys = useCached(cacheKey, calls.list);
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ReportKey | null>(null);
  const close = () => setRevoked(null);
  const revokeColumn = buttonColumn<ReportKey>({
    name: text.revoke,
    labelOf: ({ label }) => `${text.revoke} ${label}`,
    isDangerous: true,
    onClick: setRevoked,
  });
  const create = mayChange && <AddButton onClick={() => setCreating(true)}>{text.create}</AddButton>;
  return frame(
    create,
    <>
      <LoadedTable
        of={{ ...keys, data: keys.data?.report_keys }}
        lines={3}
        empty={<Empty title={text.emptyTitle}>{words.empty}</Empty>}
        name={SECTION_NAMES.keys}
        columns={mayChange ? [...COLUMNS, revokeColumn] : COLUMNS}
        rowKey="key_id"
      />
      {isCreating && (
        <Create
          calls={calls}
          words={words}
          longestLabel={longestLabel}
          mayReachUsers={mayReachUsers}
          onClose={() => {
            setCreating(false);
            void keys.reload();
          }}
        />
      )}
      {revoked && (
        <Confirm
          title={text.revokeTitle(revoked.label)}
          text={words.revokeText}
          button={text.revoke}
          dangerous
          onConfirm={confirmed(() => calls.revoke(revoked.key_id), text.revoked(revoked.label), close, keys.reload)}
          onClose={close}
        />
      )}
    </>,
  );
}

const COLUMNS: Column<ReportKey>[] = [
  column("label", text.label, ({ label, key_id: id }) => (
    <>
      {label} <code class="cell-second">{id}</code>
    </>
  )),
  column("scope", text.scope, ({ scope }) => SCOPE_NAMES[scope]),
  column("created", settings.createdAt, ({ created_at: at, created_by: by }) => (
    <>
      {timeText(at)}
      <span class="cell-second">{text.by(by.name)}</span>
    </>
  )),
  column("used", settings.lastUsed, ({ last_used_at: at }) => (at === null ? common.never : timeText(at))),
];

const SCOPES: KeyScope[] = ["ia-reporting.READ", "ia-rewards.READ", "ia-privacy.WRITE"];

type CreateProps = Pick<Props, "calls" | "words" | "longestLabel" | "mayReachUsers"> & { onClose: () => void };

function Create({ calls, words, longestLabel, mayReachUsers, onClose }: CreateProps) {
  const [label, setLabel] = useState("");
  const [scope, setScope] = useState(SCOPES[0]!);
  const [made, setMade] = useState<NewReportKey | null>(null);
  if (made) {
    return (
      <SecretDialog
        key="made"
        title={text.madeTitle}
        text={words.made}
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
      onSubmit={async () => setMade(await withVerification(() => calls.create(label.trim(), scope)))}
      onClose={onClose}
    >
      <TextField label={text.label} hint={words.labelHint} longest={longestLabel} value={label} onChange={setLabel} />
      {mayReachUsers && (
        <Choices
          kind="radio"
          name={text.scope}
          choices={SCOPES.map((value) => ({ value, label: SCOPE_NAMES[value], hint: SCOPE_HINTS[value] }))}
          chosen={[scope]}
          onChange={([chosen]) => setScope(chosen!)}
        />
      )}
    </FormDialog>
  );
}
