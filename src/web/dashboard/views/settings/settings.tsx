// The dashboard's settings.

import { Alarms } from "../../../shared/account/alarms";
import { Audit } from "../../../shared/account/audit";
import { Members } from "../../../shared/account/members";
import { Passkeys } from "../../../shared/account/passkeys";
import { Sessions } from "../../../shared/account/sessions";
import { Settings as Sections } from "../../../shared/account/settings";
import type { Section } from "../../../shared/messages";
import { get, post, put, remove } from "../../api";
import { alarmsIntro } from "../../messages/settings";
import { may } from "../../session";
import { Keys } from "./keys";
import { PubKey } from "./pub-key";
import { RemoveMember } from "./remove-member";

const MembersOfPublisher = () => <Members Removal={RemoveMember} />;

const AlarmsOfPublisher = () => <Alarms intro={alarmsIntro} mayChange calls={{ get, post, put, remove }} />;

const VIEWS = {
  keys: Keys,
  pub_key: PubKey,
  members: MembersOfPublisher,
  alarms: AlarmsOfPublisher,
  passkeys: Passkeys,
  sessions: Sessions,
  audit: Audit,
};

export const Settings = ({ section }: { section: Section | null }) => (
  <Sections asked={section} views={VIEWS} may={may} />
);
