// Dialogs of the members section. Each change needs a fresh passkey; a link is shown only once.

import { ROLES } from "#site";
import { useState } from "preact/hooks";
import { accountApi as api } from "../account-api";
import { Confirm, FormDialog, SecretDialog, TextField } from "../components/dialog";
import { focusHeading } from "../components/heading";
import { say } from "../components/status";
import { LONGEST_MEMBER_NAME } from "../limits";
import { ROLE_HINTS, ROLE_NAMES, settings } from "../messages";
import { withVerification } from "../passkeys";
import type { Member, NewInvite, PendingInvite, Role } from "../types";

const text = settings.members;

export type MemberDialog =
  | { kind: "invite" }
  | { kind: "role"; member: Member; role: Role }
  | { kind: "recovery"; member: Member }
  | { kind: "remove"; member: Member }
  | { kind: "withdraw"; pending: PendingInvite };

interface Props {
  dialog: MemberDialog;
  onClose: () => void;
  onChanged: () => Promise<void>;
}

export function MemberDialogs({ dialog, onClose, onChanged }: Props) {
  const [link, setLink] = useState<{ name: string; made: NewInvite } | null>(null);
  const change = (call: () => Promise<unknown>, said: string) => async () => {
    await withVerification(call);
    say(said);
    onClose();
    await onChanged();
    focusHeading();
  };
  if (link) {
    const { name, made } = link;
    return (
      <SecretDialog
        key="link"
        title={text.linkTitle(name)}
        text={text.linkText(made.expires_at)}
        label={text.link}
        value={made.url}
        onClose={onClose}
      />
    );
  }
  switch (dialog.kind) {
    case "invite":
      return (
        <InviteDialog
          onClose={onClose}
          onMade={(name, made) => {
            setLink({ name, made });
            void onChanged();
          }}
        />
      );
    case "role": {
      const { member, role } = dialog;
      return (
        <Confirm
          title={text.roleTitle(member.name, role)}
          text={text.roleText(role)}
          button={text.changeIt}
          onConfirm={change(() => api.changeRole(member.member_id, role), text.roleChanged(member.name))}
          onClose={onClose}
        />
      );
    }
    case "recovery": {
      const { member } = dialog;
      return (
        <Confirm
          title={text.recoverTitle(member.name)}
          text={text.recoverText}
          button={text.recoverIt}
          dangerous
          onConfirm={async () => {
            const made = await withVerification(() => api.recoverMember(member.member_id));
            setLink({ name: member.name, made });
            void onChanged();
          }}
          onClose={onClose}
        />
      );
    }
    case "remove": {
      const { member } = dialog;
      return (
        <Confirm
          title={text.removeTitle(member.name)}
          text={text.removeText}
          button={text.remove}
          dangerous
          onConfirm={change(() => api.removeMember(member.member_id), text.removed(member.name))}
          onClose={onClose}
        />
      );
    }
    case "withdraw": {
      const { pending } = dialog;
      return (
        <Confirm
          title={text.withdrawTitle(pending.name)}
          text={pending.is_recovery ? text.withdrawRecoveryText : text.withdrawText}
          button={text.withdraw}
          dangerous
          onConfirm={change(() => api.withdrawInvite(pending.invite_id), text.withdrawn(pending.name))}
          onClose={onClose}
        />
      );
    }
  }
}

function InviteDialog({ onClose, onMade }: { onClose: () => void; onMade: (name: string, made: NewInvite) => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>(ROLES[ROLES.length - 1]!);
  return (
    <FormDialog
      title={text.invite}
      button={text.create}
      onSubmit={async () => {
        const given = name.trim();
        onMade(given, await withVerification(() => api.createInvite(given, role)));
      }}
      onClose={onClose}
    >
      <TextField label={text.name} longest={LONGEST_MEMBER_NAME} value={name} onChange={setName} />
      <fieldset class="choices">
        <legend>{text.role}</legend>
        {ROLES.map((option) => (
          <label class="choice" key={option}>
            <input type="radio" name="role" checked={option === role} onChange={() => setRole(option)} />
            <span>{ROLE_NAMES[option]}</span>
            <span class="choice-hint">{ROLE_HINTS[option]}</span>
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
