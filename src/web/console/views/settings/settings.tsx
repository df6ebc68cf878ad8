// The console's settings: members of the operator, one's own passkeys and sessions, and the audit.

import { Alarms } from "../../../shared/account/alarms";
import { Members } from "../../../shared/account/members";
import { Passkeys } from "../../../shared/account/passkeys";
import { Sessions } from "../../../shared/account/sessions";
import { Settings as Sections } from "../../../shared/account/settings";
import type { Section } from "../../../shared/messages";
import { get, post, put, remove } from "../../api";
import { alarmsIntro } from "../../messages/settings";
import { may } from "../../session";
import { AuditOfOperator } from "./audit";
import { RemoveMember } from "./remove-member";

const MembersOfOperator = () => <Members Removal={RemoveMember} isReadOnly={!may("manage")} />;

const ALARMS = {
  read: () => get("/alarms", {}),
  set: (url: string) => put("/alarms", {}, { url }),
  end: () => remove("/alarms", {}),
  test: () => post("/alarms/test", {}),
};

const AlarmsOfOperator = () => <Alarms intro={alarmsIntro} mayChange={may("manage")} calls={ALARMS} />;

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
