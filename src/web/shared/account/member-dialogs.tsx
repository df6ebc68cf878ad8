// Dialogs of the members section. Each change needs a fresh passkey; a link is shown only once.

import type { FunctionComponent } from "preact";
import { useState } from "preact/hooks";
import { patch } from "../api";
import { confirmed } from "../change";
import { Choices } from "../components/choices";
import { Confirm, type ConfirmProps, FormDialog, SecretDialog, TextField } from "../components/form-dialog";
import { MAX_MEMBER_NAME } from "../limits";
import { ROLE_HINTS, ROLE_NAMES } from "../messages";
import { settings } from "../messages/settings";
import type { AccountRole, Member, NewInvite, PendingInvite, Role } from "../types";

const text = settings.members;

export type MemberDialog =
  | { kind: "invite" }
  | { kind: "role"; member: Member; role: Role }
  | { kind: "recovery"; member: Member }
  | { kind: "remove"; member: Member }
  | { kind: "withdraw"; pending: PendingInvite };

/** The calls about the members of an account. */
export interface MemberCalls {
  roles: Role[];
  /** The role that is preselected for an invite. */
  usualRole: Role;
  invite: (name: string, role: Role) => Promise<NewInvite>;
  recover: (memberId: string) => Promise<NewInvite>;
  withdraw: (inviteId: string) => Promise<void>;
  /** The dialog that removes a member. Only members of the site's own account are removed or get another role. */
  Removal?: FunctionComponent<RemovalProps>;
}

export interface RemovalProps {
  member: Member;
  onClose: () => void;
  onChanged: () => Promise<unknown>;
}

/** Texts that differ between the kinds of accounts. */
export interface MemberWords {
  invite: string;
  inviteText?: string;
  linkText: (until: number) => string;
  recoverText: string;
  withdrawRecoveryText: string;
}

interface Props {
  dialog: MemberDialog;
  calls: MemberCalls;
  words: MemberWords;
  onClose: () => void;
  onChanged: () => Promise<unknown>;
}

export function MemberDialogs({ dialog, calls, words, onClose, onChanged }: Props) {
  const [link, setLink] = useState<{ name: string; made: NewInvite } | null>(null);
  const change = (call: () => Promise<unknown>, said: string) => confirmed(call, said, onChanged);
  const show = async (name: string, make: () => Promise<NewInvite>) => {
    setLink({ name, made: await make() });
    void onChanged();
  };
  // Every dialog except a change of role takes something away.
  const ask = (of: Pick<ConfirmProps, "title" | "text" | "button" | "onConfirm">) => (
    <Confirm {...of} dangerous={dialog.kind !== "role"} onClose={onClose} />
  );
  if (link) {
    const { name, made } = link;
    return (
      <SecretDialog
        key="link"
        title={text.linkTitle(name)}
        text={words.linkText(made.expires_at)}
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
          calls={calls}
          words={words}
          onSubmit={(name, role) => show(name, () => calls.invite(name, role))}
          onClose={onClose}
        />
      );
    case "role": {
      const { member_id, name } = dialog.member;
      const role = dialog.role as AccountRole;
      const setRole = () => patch("/members/{member_id}", { member_id }, { role });
      return ask({
        title: text.roleTitle(name, role),
        text: text.roleText(role),
        button: text.changeIt,
        onConfirm: change(setRole, text.roleChanged(name)),
      });
    }
    case "recovery": {
      const { member } = dialog;
      return ask({
        title: text.recoverTitle(member.name),
        text: words.recoverText,
        button: text.recoverIt,
        onConfirm: () => show(member.name, () => calls.recover(member.member_id)),
      });
    }
    case "remove": {
      const Removal = calls.Removal!;
      return <Removal member={dialog.member} {...{ onClose, onChanged }} />;
    }
    case "withdraw": {
      const { pending } = dialog;
      return ask({
        title: text.withdrawTitle(pending.name),
        text: pending.is_recovery ? words.withdrawRecoveryText : text.withdrawText,
        button: text.withdraw,
        onConfirm: change(() => calls.withdraw(pending.invite_id), text.withdrawn(pending.name)),
      });
    }
  }
}

interface InviteProps {
  calls: MemberCalls;
  words: MemberWords;
  onSubmit: (name: string, role: Role) => Promise<void>;
  onClose: () => void;
}

function InviteDialog({ calls, words, onSubmit, onClose }: InviteProps) {
  const [name, setName] = useState("");
  const [role, setRole] = useState(calls.usualRole);
  return (
    <FormDialog
      title={words.invite}
      button={text.create}
      onSubmit={() => onSubmit(name.trim(), role)}
      onClose={onClose}
    >
      {words.inviteText && <p>{words.inviteText}</p>}
      <TextField label={text.name} longest={MAX_MEMBER_NAME} value={name} onChange={setName} />
      <Choices
        kind="radio"
        name={text.role}
        choices={calls.roles.map((value) => ({ value, label: ROLE_NAMES[value], hint: ROLE_HINTS[value] }))}
        chosen={[role]}
        onChange={([chosen]) => setRole(chosen!)}
      />
    </FormDialog>
  );
}
