// Members of an account and its open invites: invite, change a role, recover, remove.

import type { ComponentChildren, FunctionComponent } from "preact";
import { useState } from "preact/hooks";
import { get, post, remove } from "../api";
import { ROLES } from "#site";
import { type CachedView, useCached } from "../cache";
import { AddButton } from "../components/button";
import { Options } from "../components/field";
import { Loaded } from "../components/loaded";
import { buttonColumn, RowButton } from "../components/row-button";
import { CardSkeleton, CardTable, type Column, column, numberColumn } from "../components/table";
import { timeText } from "../format";
import { common, ROLE_NAMES } from "../messages";
import { settings } from "../messages/settings";
import type { AccountRole, Member, MemberList, PendingInvite, Role } from "../types";
import {
  type MemberCalls,
  type MemberDialog,
  MemberDialogs,
  type MemberWords,
  type RemovalProps,
} from "./member-dialogs";
import { Page } from "./page";
import { Person, sharedNames } from "./person";

const text = settings.members;

// The document names only the roles of a publisher. The console's calls take the operator's roles.
const CALLS: MemberCalls = {
  roles: ROLES,
  usualRole: ROLES.at(-1)!,
  invite: (name, role) => post("/invites", {}, { name, role: role as AccountRole }),
  recover: (member_id) => post("/members/{member_id}/recovery", { member_id }),
  withdraw: (invite_id) => remove("/invites/{invite_id}", { invite_id }),
};

interface OwnProps {
  Removal: FunctionComponent<RemovalProps>;
  /** The role sees the members and changes none. */
  isReadOnly?: boolean;
}

/** The members of the site's own account. */
export function Members({ Removal, isReadOnly = false }: OwnProps) {
  return (
    <MembersOf
      of={useCached("members", () => get("/members", {}))}
      calls={{ ...CALLS, Removal }}
      words={text}
      name={text.intro}
      isReadOnly={isReadOnly}
      frame={(invite, lists) => (
        <Page section="members" note={text.intro} actions={invite}>
          {lists}
        </Page>
      )}
    />
  );
}

interface Props {
  of: CachedView<MemberList>;
  calls: MemberCalls;
  words: MemberWords;
  /** The name of the table of members. */
  name: string;
  empty?: ComponentChildren;
  isReadOnly: boolean;
  /** Draws the page around the lists, with the invite button. */
  frame: (invite: ComponentChildren, lists: ComponentChildren) => ComponentChildren;
}

/** The members of an account, which need not be the site's own. */
export function MembersOf({ of, calls, words, name, empty, isReadOnly, frame }: Props) {
  const [dialog, setDialog] = useState<MemberDialog | null>(null);
  const open = isReadOnly ? null : setDialog;
  return frame(
    open && <AddButton onClick={() => open({ kind: "invite" })}>{words.invite}</AddButton>,
    <>
      <Loaded of={of} loading={<CardSkeleton rows={4} />}>
        {({ members, invites }) => (
          <>
            {members.length === 0 ? (
              empty
            ) : (
              <CardTable name={name} columns={memberColumns(members, open, calls)} rows={members} rowKey="member_id" />
            )}
            <h2>{text.pending}</h2>
            {invites.length === 0 ? (
              <p class="note">{text.noPending}</p>
            ) : (
              <CardTable name={text.pending} columns={inviteColumns(open)} rows={invites} rowKey="invite_id" />
            )}
          </>
        )}
      </Loaded>
      {dialog && <MemberDialogs {...{ dialog, calls, words }} onClose={() => setDialog(null)} onChanged={of.reload} />}
    </>,
  );
}

/** Opens a dialog; null if the role may open none. */
type Open = ((dialog: MemberDialog) => void) | null;

function memberColumns(members: Member[], open: Open, { Removal, roles }: MemberCalls): Column<Member>[] {
  const shared = sharedNames(members.map(({ name, member_id }) => ({ name, id: member_id })));
  return [
    column("name", text.name, (member) => (
      <>
        <Person name={member.name} id={member.member_id} shared={shared} />{" "}
        {member.is_self && <span class="tag">{text.you}</span>}
      </>
    )),
    column("role", text.role, (member) =>
      !open || !Removal ? (
        ROLE_NAMES[member.role]
      ) : (
        <select
          aria-label={text.changeRole(member.name)}
          value={member.role}
          onChange={(event) => {
            const role = event.currentTarget.value as Role;
            // The list shows the stored role until the change is confirmed.
            event.currentTarget.value = member.role;
            open({ kind: "role", member, role });
          }}
        >
          <Options options={roles} nameOf={(role) => ROLE_NAMES[role]} />
        </select>
      ),
    ),
    numberColumn("passkeys", text.passkeys, (member) => member.passkeys),
    column("seen", text.lastSeen, (member) => (member.last_seen_at ? timeText(member.last_seen_at) : common.never)),
    {
      key: "actions",
      header: text.actions,
      isHeaderHidden: true,
      isNumber: true,
      cell: (member) =>
        !member.is_self &&
        open && (
          <span class="row-buttons">
            <RowButton
              name={text.recover}
              label={`${text.recover}: ${member.name}`}
              onClick={() => open({ kind: "recovery", member })}
            />
            {Removal && (
              <RowButton
                name={text.remove}
                label={`${text.remove} ${member.name}`}
                isDangerous
                onClick={() => open({ kind: "remove", member })}
              />
            )}
          </span>
        ),
    },
  ];
}

function inviteColumns(open: Open): Column<PendingInvite>[] {
  return [
    column("name", text.name, (pending) => (
      <>
        {pending.name} {pending.is_recovery && <span class="tag">{text.recovery}</span>}
      </>
    )),
    column("role", text.role, (pending) => ROLE_NAMES[pending.role]),
    column("by", text.by, (pending) => pending.by),
    column("until", text.validUntil, (pending) => timeText(pending.expires_at)),
    buttonColumn({
      header: text.actions,
      name: text.withdraw,
      labelOf: (pending) => `${text.withdraw}: ${pending.name}`,
      isDangerous: true,
      isShown: () => open !== null,
      onClick: (pending) => open!({ kind: "withdraw", pending }),
    }),
  ];
}
