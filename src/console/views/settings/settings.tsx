// The console's settings: members of the operator, one's own passkeys and sessions, and the audit.

import { Members } from "../../../pages/account/members";
import { Passkeys } from "../../../pages/account/passkeys";
import { Sessions } from "../../../pages/account/sessions";
import { Settings as Sections } from "../../../pages/account/settings";
import type { Section } from "../../../pages/messages";
import { may } from "../../session";
import { AuditOfOperator } from "./audit";

const MembersOfOperator = () => <Members isReadOnly={!may("manage")} />;

const VIEWS = { members: MembersOfOperator, passkeys: Passkeys, sessions: Sessions, audit: AuditOfOperator };

/** Both roles see all sections. */
export const Settings = ({ section }: { section: Section | null }) => (
  <Sections asked={section} views={VIEWS} may={() => true} />
);
