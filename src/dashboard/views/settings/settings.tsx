// The dashboard's settings.

import { Audit } from "../../../pages/account/audit";
import { Members } from "../../../pages/account/members";
import { Passkeys } from "../../../pages/account/passkeys";
import { Sessions } from "../../../pages/account/sessions";
import { Settings as Sections } from "../../../pages/account/settings";
import type { Section } from "../../../pages/messages";
import { may } from "../../session";
import { Keys } from "./keys";
import { PubKey } from "./pub-key";

const MembersOfPublisher = () => <Members />;

const VIEWS = {
  keys: Keys,
  pub_key: PubKey,
  members: MembersOfPublisher,
  passkeys: Passkeys,
  sessions: Sessions,
  audit: Audit,
};

export const Settings = ({ section }: { section: Section | null }) => (
  <Sections asked={section} views={VIEWS} may={may} />
);
