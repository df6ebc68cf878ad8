// Dialogs about a publisher's people. A link is shown only once.

import { useState } from "preact/hooks";
import { Confirm, FormDialog, SecretDialog, TextField } from "../../../shared/components/dialog";
import { Choices } from "../../../shared/components/field";
import { focusHeading } from "../../../shared/components/heading";
import { say } from "../../../shared/components/status";
import { LONGEST_MEMBER_NAME } from "../../../shared/limits";
import { withVerification } from "../../../shared/passkeys";
import { publishersApi as api } from "../../api/publishers";
import { ROLE_HINTS, ROLE_NAMES } from "../../messages";
import { people as text } from "../../messages/publishers";
import type { NewInvite, Role } from "../../types";
import type { PublisherInvite, PublisherMember } from "../../types/publishers";

export type PeopleDialog =
  | { kind: "invite" }
  | { kind: "recovery"; member: PublisherMember }
  | { kind: "withdraw"; invite: PublisherInvite };

interface Props {
  publisherId: string;
  dialog: PeopleDialog;
  onChanged: () => Promise<void>;
  onClose: () => void;
}

/** The roles of a publisher's members, the first of which is invited first. */
const ROLES: Role[] = ["owner", "developer", "analyst"];

export function PeopleDialogs({ publisherId, dialog, onChanged, onClose }: Props) {
  const [link, setLink] = useState<{ name: string; made: NewInvite } | null>(null);
  const show = (name: string, made: NewInvite) => {
    setLink({ name, made });
    void onChanged();
  };
  if (link) {
    return (
      <SecretDialog
        key="link"
        title={text.linkTitle(link.name)}
        text={text.linkText(link.made.expires_at)}
        label={text.link}
        value={link.made.url}
        onClose={onClose}
      />
    );
  }
  switch (dialog.kind) {
    case "invite":
      return (
        <Invite
          onSubmit={async (name, role) => show(name, await withVerification(() => api.invite(publisherId, name, role)))}
          onClose={onClose}
        />
      );
    case "recovery": {
      const { name, member_id: memberId } = dialog.member;
      return (
        <Confirm
          title={text.recoverTitle(name)}
          text={text.recoverText}
          button={text.recoverIt}
          dangerous
          onConfirm={async () => show(name, await withVerification(() => api.recover(publisherId, memberId)))}
          onClose={onClose}
        />
      );
    }
    case "withdraw": {
      const { name, invite_id: inviteId, is_recovery: isRecovery } = dialog.invite;
      return (
        <Confirm
          title={text.withdrawTitle(name)}
          text={isRecovery ? text.withdrawRecoveryText : text.withdrawText}
          button={text.withdraw}
          dangerous
          onConfirm={async () => {
            await withVerification(() => api.withdraw(publisherId, inviteId));
            say(text.withdrawn(name));
            onClose();
            await onChanged();
            focusHeading();
          }}
          onClose={onClose}
        />
      );
    }
  }
}

interface InviteProps {
  onSubmit: (name: string, role: Role) => Promise<void>;
  onClose: () => void;
}

function Invite({ onSubmit, onClose }: InviteProps) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>(ROLES[0]!);
  return (
    <FormDialog title={text.invite} button={text.create} onSubmit={() => onSubmit(name.trim(), role)} onClose={onClose}>
      <p>{text.inviteText}</p>
      <TextField label={text.name} longest={LONGEST_MEMBER_NAME} value={name} onChange={setName} />
      <Choices
        kind="radio"
        name={text.role}
        choices={ROLES.map((value) => ({ value, label: ROLE_NAMES[value], hint: ROLE_HINTS[value] }))}
        chosen={[role]}
        onChange={([chosen]) => setRole(chosen!)}
      />
    </FormDialog>
  );
}
