// The report keys of an account: create one, see when it was last used, revoke it. Each site has its own calls and
// words.

import { Button } from "./components/button";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "./action";
import { useCached } from "./cache";
import { confirmed } from "./change";
import { CopyField } from "./components/copy-button";
import { Select } from "./components/field";
import { Form, SubmitButton } from "./components/form";
import { TextField, useQuestion } from "./components/form-dialog";
import { focusHeading } from "./components/heading";
import { LoadedTable } from "./components/loaded";
import { useUnsaved } from "./components/part";
import { buttonColumn } from "./components/row-button";
import { Empty, FormError } from "./components/states";
import { type Column, column } from "./components/table";
import { timeText } from "./format";
import { common, SECTION_NAMES } from "./messages";
import { settings } from "./messages/settings";
import { SCOPE_HINTS, SCOPE_NAMES, reportKeys as text } from "./messages/report-keys";
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
  /** True if the member may make keys that read or erase users. */
  mayReachUsers?: boolean;
  /** Draws the section around the keys. */
  frame: (keys: ComponentChildren) => ComponentChildren;
}

export function ReportKeys({ cacheKey, calls, words, longestLabel, mayChange, mayReachUsers = true, frame }: Props) {
  const keys = useCached(cacheKey, calls.list);
  const [made, setMade] = useState<NewReportKey | null>(null);
  const [askToRevoke, question] = useQuestion<ReportKey>(({ key_id: id, label }) => ({
    title: text.revokeTitle(label),
    text: words.revokeText,
    button: text.revoke,
    dangerous: true,
    onConfirm: confirmed(
      () => calls.revoke(id),
      text.revoked(label),
      () => {
        if (made?.key_id === id) setMade(null);
        return keys.reload();
      },
    ),
  }));
  const revokeColumn = buttonColumn<ReportKey>({
    name: text.revoke,
    labelOf: ({ label }) => `${text.revoke} ${label}`,
    isDangerous: true,
    onClick: askToRevoke,
  });
  return frame(
    <>
      {mayChange && (
        <Create
          calls={calls}
          words={words}
          longestLabel={longestLabel}
          mayReachUsers={mayReachUsers}
          made={made}
          onMade={(key) => {
            setMade(key);
            void keys.reload();
          }}
        />
      )}
      <LoadedTable
        of={{ ...keys, data: keys.data?.report_keys }}
        lines={3}
        empty={<Empty title={text.emptyTitle}>{words.empty}</Empty>}
        name={SECTION_NAMES.keys}
        columns={mayChange ? [...COLUMNS, revokeColumn] : COLUMNS}
        rowKey="key_id"
      />
      {question}
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

/** Scopes that do not reach users. */
const HARMLESS: KeyScope[] = ["ia-reporting.READ", "ia-test.WRITE"];
const SCOPES: KeyScope[] = ["ia-reporting.READ", "ia-rewards.READ", "ia-privacy.WRITE", "ia-test.WRITE"];

type CreateProps = Pick<Props, "calls" | "words" | "longestLabel" | "mayReachUsers"> & {
  made: NewReportKey | null;
  onMade: (key: NewReportKey | null) => void;
};

/** Shows a form and, once the form was sent, the new key. After the key is closed or revoked, it is not shown again. */
function Create({ calls, words, longestLabel, mayReachUsers, made, onMade }: CreateProps) {
  const [label, setLabel] = useState("");
  const [scope, setScope] = useState(SCOPES[0]!);
  const create = useAction(async () => {
    onMade(await calls.create(label.trim(), scope));
    setLabel("");
  });
  useUnsaved(made !== null || create.isRunning);
  return (
    <div class="card padded section">
      <div class="new-key" role="status">
        {made && (
          <>
            <p>
              <strong>{text.madeTitle}</strong> {words.made}
            </p>
            <CopyField label={text.newKey} value={made.api_key} />
            <Button
              onClick={() => {
                onMade(null);
                focusHeading();
              }}
            >
              {common.done}
            </Button>
          </>
        )}
      </div>
      {!made && (
        <Form class="inline-form" onSubmit={() => void create.run()}>
          <TextField
            label={text.label}
            hint={words.labelHint}
            longest={longestLabel}
            value={label}
            onChange={setLabel}
          />
          <Select
            label={text.scope}
            hint={SCOPE_HINTS[scope]}
            options={mayReachUsers ? SCOPES : HARMLESS}
            nameOf={(value) => SCOPE_NAMES[value]}
            value={scope}
            onChange={setScope}
          />
          <SubmitButton isDisabled={create.isRunning}>{text.create}</SubmitButton>
        </Form>
      )}
      <FormError error={create.error} />
    </div>
  );
}
