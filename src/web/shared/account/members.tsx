// Members and open invites, for owners: invite, change a role, recover, remove.

import { useState } from "preact/hooks";
import { accountApi as api } from "../account-api";
import { ROLES } from "#site";
import { useCached } from "../cache";
import { Plus } from "../components/icons";
import { Failed, Stale } from "../components/states";
import { type Column, Table, TableSkeleton } from "../components/table";
import { timeText } from "../format";
import { common, ROLE_NAMES, settings } from "../messages";
import type { Member, PendingInvite, Role } from "../types";
import { MemberDialogs, type MemberDialog } from "./member-dialogs";
import { Page } from "./page";
import { Person, sharedNames } from "./person";

const text = settings.members;

/** `isReadOnly`: the role sees the members and changes none. */
export function Members({ isReadOnly = false }: { isReadOnly?: boolean }) {
  const members = useCached("members", api.members);
  const [open, setOpen] = useState<MemberDialog | null>(null);
  const invite = (
    <button type="button" class="button primary" onClick={() => setOpen({ kind: "invite" })}>
      <Plus /> {text.invite}
    </button>
  );
  return (
    <Page section="members" note={text.intro} actions={isReadOnly ? null : invite}>
      <Stale of={members} retry={members.reload} />
      {members.data ? (
        <>
          <div class="card table-card">
            <Table
              stacks
              name={settings.members.intro}
              columns={memberColumns(members.data.members, isReadOnly ? null : setOpen)}
              rows={members.data.members}
              rowKey={(member) => member.member_id}
            />
          </div>
          <h2>{text.pending}</h2>
          {members.data.invites.length === 0 ? (
            <p class="note">{text.noPending}</p>
          ) : (
            <div class="card table-card">
              <Table
                stacks
                name={text.pending}
                columns={inviteColumns(isReadOnly ? null : setOpen)}
                rows={members.data.invites}
                rowKey={(pending) => pending.invite_id}
              />
            </div>
          )}
        </>
      ) : members.error ? (
        <Failed error={members.error} retry={members.reload} />
      ) : (
        <div class="card">
          <TableSkeleton rows={4} />
        </div>
      )}
      {open && <MemberDialogs dialog={open} onClose={() => setOpen(null)} onChanged={members.reload} />}
    </Page>
  );
}

/** None opens no dialog. */
type Open = ((dialog: MemberDialog) => void) | null;

function memberColumns(members: Member[], open: Open): Column<Member>[] {
  const shared = sharedNames(members.map(({ name, member_id }) => ({ name, id: member_id })));
  return [
    {
      key: "name",
      header: text.name,
      cell: (member) => (
        <>
          <Person name={member.name} id={member.member_id} shared={shared} />{" "}
          {member.is_self && <span class="tag">{text.you}</span>}
        </>
      ),
    },
    {
      key: "role",
      header: text.role,
      cell: (member) =>
        !open ? (
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
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {ROLE_NAMES[role]}
              </option>
            ))}
          </select>
        ),
    },
    { key: "passkeys", header: text.passkeys, isNumber: true, cell: (member) => member.passkeys },
    {
      key: "seen",
      header: text.lastSeen,
      cell: (member) => (member.last_seen_at ? timeText(member.last_seen_at) : common.never),
    },
    {
      key: "actions",
      header: text.actions,
      isHeaderHidden: true,
      isNumber: true,
      cell: (member) =>
        member.is_self || !open ? null : (
          <span class="row-buttons">
            <button
              type="button"
              class="button small"
              aria-label={`${text.recover}: ${member.name}`}
              onClick={() => open({ kind: "recovery", member })}
            >
              {text.recover}
            </button>
            <button
              type="button"
              class="button small danger-text"
              aria-label={`${text.remove} ${member.name}`}
              onClick={() => open({ kind: "remove", member })}
            >
              {text.remove}
            </button>
          </span>
        ),
    },
  ];
}

function inviteColumns(open: Open): Column<PendingInvite>[] {
  return [
    {
      key: "name",
      header: text.name,
      cell: (pending) => (
        <>
          {pending.name} {pending.is_recovery && <span class="tag">{text.recovery}</span>}
        </>
      ),
    },
    { key: "role", header: text.role, cell: (pending) => ROLE_NAMES[pending.role] },
    { key: "by", header: text.by, cell: (pending) => pending.by },
    { key: "until", header: text.validUntil, cell: (pending) => timeText(pending.expires_at) },
    {
      key: "withdraw",
      header: text.actions,
      isHeaderHidden: true,
      isNumber: true,
      cell: (pending) =>
        open && (
          <button
            type="button"
            class="button small danger-text"
            aria-label={`${text.withdraw}: ${pending.name}`}
            onClick={() => open({ kind: "withdraw", pending })}
          >
            {text.withdraw}
          </button>
        ),
    },
  ];
}
