// The console's settings: members of the operator, one's own passkeys and sessions, and the audit.

import { Alarms } from "../../../shared/account/alarms";
import { Members } from "../../../shared/account/members";
import { Passkeys } from "../../../shared/account/passkeys";
import { Sessions } from "../../../shared/account/sessions";
import { Settings as Sections, settingsPath } from "../../../shared/account/settings";
import type { Section } from "../../../shared/messages";
import { get, post, put, remove } from "../../api";
import { alarmsIntro, removal } from "../../messages/settings";
import { may } from "../../session";
import { AuditOfOperator } from "./audit";
import { remove as removeOwn } from "../../../shared/api";
import { Known } from "../../../shared/account/known";
import type { RemovalProps } from "../../../shared/account/member-dialogs";
import { confirmed } from "../../../shared/change";
import { Confirm } from "../../../shared/components/form-dialog";
import { frame, SECTION_NAMES } from "../../messages";
import { settings } from "../../../shared/messages/settings";
import { ADVERTISERS_PATH, PUBLISHERS_PATH } from "../../router";

const text = settings.members;

/** Lists the secrets that the member made or saw and that stay valid. */
const RemoveMember = ({ member: { member_id, name, role }, onClose, onChanged }: RemovalProps) => (
  <Confirm
    title={text.removeTitle(name)}
    text={text.removeText}
    button={text.remove}
    dangerous
    onConfirm={confirmed(() => removeOwn("/members/{member_id}", { member_id }), text.removed(name), onChanged)}
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

const MembersOfOperator = () => <Members Removal={RemoveMember} isReadOnly={!may("manage")} />;

const AlarmsOfOperator = () => (
  <Alarms intro={alarmsIntro} mayChange={may("manage")} calls={{ get, post, put, remove }} />
);

const VIEWS = {
  members: MembersOfOperator,
  alarms: AlarmsOfOperator,
  passkeys: Passkeys,
  sessions: Sessions,
  audit: AuditOfOperator,
};

/** Both roles see all sections. */
export const Settings = ({ section }: { section: Section | null }) => (
  <Sections asked={section} views={VIEWS} may={() => true} />
);
