// The member's own passkeys: a further one for another device, and the removal of one that is lost.

import { useState } from "preact/hooks";
import { useAction } from "../action";
import { accountApi as api } from "../account-api";
import { refresh, useCached } from "../cache";
import { Confirm } from "../components/dialog";
import { focusHeading } from "../components/heading";
import { Plus } from "../components/icons";
import { Empty, Failed, FormError, Stale } from "../components/states";
import { say } from "../components/status";
import { type Column, Table, TableSkeleton } from "../components/table";
import { timeText } from "../format";
import { common, SECTION_NAMES, settings } from "../messages";
import { addPasskey, withVerification } from "../passkeys";
import type { Passkey } from "../types";
import { Page } from "./page";
import { browserName } from "./user-agent";

const text = settings.passkeys;

export function Passkeys() {
  const passkeys = useCached("passkeys", api.passkeys);
  const [removed, setRemoved] = useState<Passkey | null>(null);
  const addition = useAction(async () => {
    await addPasskey();
    say(text.added);
    await passkeys.reload();
  });
  const list = passkeys.data?.passkeys;
  const columns: Column<Passkey>[] = [
    { key: "maker", header: text.maker, cell: (passkey) => browserName(passkey.user_agent) },
    { key: "created", header: settings.createdAt, cell: (passkey) => timeText(passkey.created_at) },
    {
      key: "used",
      header: settings.lastUsed,
      cell: (passkey) => (passkey.last_used_at ? timeText(passkey.last_used_at) : common.never),
    },
    {
      key: "remove",
      header: text.remove,
      isHeaderHidden: true,
      isNumber: true,
      // The last one stays: without it there is no way in.
      cell: (passkey) =>
        list!.length === 1 ? null : (
          <button
            type="button"
            class="button small danger-text"
            aria-label={text.removeOf(browserName(passkey.user_agent), passkey.created_at)}
            onClick={() => setRemoved(passkey)}
          >
            {text.remove}
          </button>
        ),
    },
  ];
  const add = (
    <button type="button" class="button primary" aria-disabled={addition.isRunning} onClick={() => void addition.run()}>
      <Plus /> {addition.isRunning ? text.waiting : text.add}
    </button>
  );
  return (
    <Page section="passkeys" note={text.intro} actions={add}>
      <FormError error={addition.error} />
      <Stale of={passkeys} retry={passkeys.reload} />
      {!list ? (
        passkeys.error ? (
          <Failed error={passkeys.error} retry={passkeys.reload} />
        ) : (
          <div class="card">
            <TableSkeleton rows={2} />
          </div>
        )
      ) : list.length === 0 ? (
        <Empty title={text.emptyTitle}>{text.empty}</Empty>
      ) : (
        <div class="card table-card">
          <Table
            stacks
            name={SECTION_NAMES.passkeys}
            columns={columns}
            rows={list}
            rowKey={(passkey) => passkey.passkey_id}
          />
        </div>
      )}
      {removed && (
        <Confirm
          title={text.removeTitle(browserName(removed.user_agent))}
          text={text.removeText}
          button={text.remove}
          dangerous
          onConfirm={async () => {
            await withVerification(() => api.removePasskey(removed.passkey_id));
            setRemoved(null);
            say(text.removed);
            void refresh("sessions");
            await passkeys.reload();
            focusHeading();
          }}
          onClose={() => setRemoved(null)}
        />
      )}
    </Page>
  );
}
