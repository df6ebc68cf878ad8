// Removes a member of the operator, and lists the secrets that the member made or saw and that stay valid.

import { accountApi } from "../../../shared/account-api";
import { Known } from "../../../shared/account/known";
import type { RemovalProps } from "../../../shared/account/member-dialogs";
import { settingsPath } from "../../../shared/account/settings";
import { confirmed } from "../../../shared/change";
import { Confirm } from "../../../shared/components/form-dialog";
import { SECTION_NAMES } from "../../messages";
import { settings } from "../../../shared/messages/settings";
import { frame } from "../../messages/frame";
import { removal } from "../../messages/settings";
import { ADVERTISERS_PATH, PUBLISHERS_PATH } from "../../router";

const text = settings.members;

export const RemoveMember = ({ member: { member_id: id, name, role }, onClose, onChanged }: RemovalProps) => (
  <Confirm
    title={text.removeTitle(name)}
    text={text.removeText}
    button={text.remove}
    dangerous
    onConfirm={confirmed(() => accountApi.removeMember(id), text.removed(name), onChanged)}
    onClose={onClose}
  >
    <Known
      intro={removal.known(role)}
      places={[
        [frame.publishers, PUBLISHERS_PATH, removal.publishers],
        [frame.advertisers, ADVERTISERS_PATH, removal.advertisers],
        [SECTION_NAMES.audit, settingsPath("audit"), removal.audit],
      ]}
    />
  </Confirm>
);
