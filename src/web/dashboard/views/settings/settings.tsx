// The dashboard's settings.

import { Audit } from "../../../shared/account/audit";
import type { RemovalProps } from "../../../shared/account/member-dialogs";
import { Members } from "../../../shared/account/members";
import { Passkeys } from "../../../shared/account/passkeys";
import { Sessions } from "../../../shared/account/sessions";
import { Settings as Sections } from "../../../shared/account/settings";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { lazy } from "../../../shared/lazy";
import { type Section, settings } from "../../../shared/messages";
import { may } from "../../session";
import { Keys } from "./keys";
import { PubKey } from "./pub-key";

const { Lazy } = lazy(() => import("../lazy-views"));

function Removal(props: RemovalProps) {
  const title = settings.members.removeTitle(props.member.name);
  return (
    <Lazy
      title={title}
      view={({ RemoveMember }) => <RemoveMember {...props} />}
      frame={(state) => (
        <Dialog title={title} onClose={props.onClose}>
          {state}
          <DialogButtons onClose={props.onClose} />
        </Dialog>
      )}
    />
  );
}

const MembersOfPublisher = () => <Members Removal={Removal} />;

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
