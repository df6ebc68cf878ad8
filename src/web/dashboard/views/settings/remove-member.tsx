// Removes a member, and first revokes the report keys that the member made.

import { useState } from "preact/hooks";
import { Known } from "../../../shared/account/known";
import type { RemovalProps } from "../../../shared/account/member-dialogs";
import { settingsPath } from "../../../shared/account/settings";
import { useCached } from "../../../shared/cache";
import { confirmed } from "../../../shared/change";
import { ApiError } from "../../../shared/client";
import { Choices } from "../../../shared/components/choices";
import { Confirm } from "../../../shared/components/form-dialog";
import { Loaded } from "../../../shared/components/loaded";
import { Problem, Skeleton } from "../../../shared/components/states";
import { get, remove as removeFrom } from "../../api";
import { common, SECTION_NAMES } from "../../messages";
import { settings } from "../../../shared/messages/settings";
import { removal as text } from "../../messages/settings";
import { APPS_PATH } from "../../router";

/** A key that no longer exists counts as revoked, because an earlier answer may have been lost. */
async function revoke(key_id: string) {
  try {
    await removeFrom("/report_keys/{key_id}", { key_id });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

export function RemoveMember({ member, onClose, onChanged }: RemovalProps) {
  const { member_id: id, name, role } = member;
  const keys = useCached("report_keys", () => get("/report_keys", {}));
  const [kept, setKept] = useState<string[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const made = keys.data?.report_keys.filter(({ created_by: by }) => by.member_id === id) ?? [];
  const revoked = made.filter(({ key_id }) => !kept.includes(key_id));

  // Revoke the keys first. If that fails for one key, the member is still in the list and can be removed later.
  async function remove() {
    let failing: string | null = null;
    setFailure(null);
    const change = async () => {
      for (const { key_id, label } of revoked) {
        failing = text.notRevoked(label, name);
        await revoke(key_id);
      }
      failing = revoked.length > 0 ? text.notRemoved(name) : null;
      await removeFrom("/members/{member_id}", { member_id: id });
    };
    const said = revoked.length > 0 ? text.removed(name, revoked.length) : settings.members.removed(name);
    try {
      await confirmed(change, said, () => Promise.all([onChanged(), keys.reload()]))(onClose);
    } catch (error) {
      setFailure(failing);
      void keys.reload();
      throw error;
    }
  }

  return (
    <Confirm
      title={settings.members.removeTitle(name)}
      text={settings.members.removeText}
      button={revoked.length > 0 ? text.remove(revoked.length) : settings.members.remove}
      dangerous
      isWrong={keys.isLoading || (!keys.data && !keys.error)}
      onConfirm={remove}
      onClose={onClose}
    >
      {keys.error && !keys.data && <p>{text.keysFailed}</p>}
      <Loaded of={keys} loading={<Skeleton lines={2} />} isCompact>
        {() =>
          made.length === 0 ? (
            <p>{text.noKeys}</p>
          ) : (
            <>
              <Choices
                kind="checkbox"
                name={text.keys}
                choices={made.map(({ key_id, label, scope, last_used_at: at }) => ({
                  value: key_id,
                  label,
                  hint: text.used(scope, at),
                }))}
                chosen={revoked.map(({ key_id }) => key_id)}
                onChange={(chosen) =>
                  setKept(made.map(({ key_id }) => key_id).filter((keyId) => !chosen.includes(keyId)))
                }
              />
              <p class="note">{text.keysText}</p>
            </>
          )
        }
      </Loaded>
      <Known
        intro={text.known(role) + text.replace}
        places={[
          [SECTION_NAMES.pub_key, settingsPath("pub_key"), text.pubKey],
          [common.apps, APPS_PATH, text.apps],
          [SECTION_NAMES.audit, settingsPath("audit"), text.audit],
        ]}
      />
      <Problem>{failure}</Problem>
    </Confirm>
  );
}
