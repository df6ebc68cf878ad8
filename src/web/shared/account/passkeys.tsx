// The member's own passkeys: adds one for another device, and removes one that is lost.

import { useAction } from "../action";
import { get, remove } from "../api";
import { refresh, useCached } from "../cache";
import { confirmed } from "../change";
import { PrimaryRun } from "../components/button";
import { useQuestion } from "../components/form-dialog";
import { Plus } from "../components/icons";
import { LoadedTable } from "../components/loaded";
import { buttonColumn } from "../components/row-button";
import { Empty, FormError } from "../components/states";
import { say } from "../components/status";
import { type Column, column } from "../components/table";
import { exactTimeText, timeText } from "../format";
import { common, SECTION_NAMES } from "../messages";
import { settings } from "../messages/settings";
import { addPasskey } from "../passkeys";
import type { OwnPasskey } from "../types";
import { Page } from "./page";
import { browserName } from "./user-agent";

const text = settings.passkeys;

export function Passkeys() {
  const passkeys = useCached("passkeys", () => get("/passkeys", {}));
  const [askToRemove, question] = useQuestion<OwnPasskey>((passkey) => ({
    title: `${text.removeOf(browserName(passkey.user_agent), passkey.created_at)}?`,
    text: text.removeText,
    button: text.remove,
    dangerous: true,
    onConfirm: confirmed(
      () => remove("/passkeys/{passkey_id}", { passkey_id: passkey.passkey_id }),
      text.removed,
      () => {
        void refresh("sessions");
        return passkeys.reload();
      },
    ),
  }));
  const addition = useAction(async () => {
    await addPasskey();
    say(text.added);
    await passkeys.reload();
  });
  const list = passkeys.data?.passkeys;
  const columns: Column<OwnPasskey>[] = [
    column("maker", text.maker, (passkey) => browserName(passkey.user_agent)),
    column("created", settings.createdAt, (passkey) => exactTimeText(passkey.created_at)),
    column("used", settings.lastUsed, (passkey) =>
      passkey.last_used_at ? timeText(passkey.last_used_at) : common.never,
    ),
    buttonColumn<OwnPasskey>({
      name: text.remove,
      labelOf: (passkey) => text.removeOf(browserName(passkey.user_agent), passkey.created_at),
      isDangerous: true,
      // The last passkey cannot be removed, because the member could not sign in again.
      isShown: () => list!.length > 1,
      onClick: askToRemove,
    }),
  ];
  const add = (
    <PrimaryRun of={addition}>
      <Plus /> {addition.isRunning ? text.waiting : text.add}
    </PrimaryRun>
  );
  return (
    <Page section="passkeys" note={text.intro} actions={add}>
      <FormError error={addition.error} />
      <LoadedTable
        of={{ ...passkeys, data: list }}
        lines={2}
        empty={<Empty title={text.emptyTitle}>{text.empty}</Empty>}
        name={SECTION_NAMES.passkeys}
        columns={columns}
        rowKey="passkey_id"
      />
      {question}
    </Page>
  );
}
