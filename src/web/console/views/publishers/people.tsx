// Who can sign in to a publisher's dashboard: members and open invites.

import { useState } from "preact/hooks";
import { Person, sharedNames } from "../../../shared/account/person";
import { useCached } from "../../../shared/cache";
import { Plus } from "../../../shared/components/icons";
import { Empty, Failed, Stale } from "../../../shared/components/states";
import { type Column, Table, TableSkeleton } from "../../../shared/components/table";
import { timeText } from "../../../shared/format";
import { publishersApi as api } from "../../api/publishers";
import { common, ROLE_NAMES } from "../../messages";
import { people as text } from "../../messages/publishers";
import { may } from "../../session";
import type { Publisher, PublisherInvite, PublisherMember } from "../../types/publishers";
import { type PeopleDialog, PeopleDialogs } from "./people-dialogs";

type Open = (dialog: PeopleDialog) => void;

export function People({ publisher: { publisher_id: id } }: { publisher: Publisher }) {
  const people = useCached(`people ${id}`, () => api.people(id));
  const [open, setOpen] = useState<PeopleDialog | null>(null);
  const { data, error, reload } = people;
  return (
    <section aria-labelledby="people-title">
      <div class="section-head">
        <div>
          <h2 id="people-title">{text.title}</h2>
          <p class="note">{text.intro}</p>
        </div>
        {may("manage") && (
          <button type="button" class="button primary" onClick={() => setOpen({ kind: "invite" })}>
            <Plus /> {text.invite}
          </button>
        )}
      </div>
      <Stale of={people} retry={reload} />
      {data ? (
        <>
          {data.members.length === 0 ? (
            <Empty title={text.emptyTitle}>{text.empty}</Empty>
          ) : (
            <div class="card table-card">
              <Table
                stacks
                name={text.title}
                columns={memberColumns(data.members, setOpen)}
                rows={data.members}
                rowKey={(member) => member.member_id}
              />
            </div>
          )}
          <h2>{text.pending}</h2>
          {data.invites.length === 0 ? (
            <p class="note">{text.noPending}</p>
          ) : (
            <div class="card table-card">
              <Table
                stacks
                name={text.pending}
                columns={inviteColumns(setOpen)}
                rows={data.invites}
                rowKey={(invite) => invite.invite_id}
              />
            </div>
          )}
        </>
      ) : error ? (
        <Failed error={error} retry={reload} />
      ) : (
        <div class="card">
          <TableSkeleton rows={3} />
        </div>
      )}
      {open && <PeopleDialogs publisherId={id} dialog={open} onChanged={reload} onClose={() => setOpen(null)} />}
    </section>
  );
}

function memberColumns(members: PublisherMember[], open: Open): Column<PublisherMember>[] {
  const shared = sharedNames(members.map(({ name, member_id }) => ({ name, id: member_id })));
  return [
    {
      key: "name",
      header: text.name,
      cell: ({ name, member_id }) => <Person name={name} id={member_id} shared={shared} />,
    },
    { key: "role", header: text.role, cell: ({ role }) => ROLE_NAMES[role] },
    { key: "passkeys", header: text.passkeys, isNumber: true, cell: ({ passkeys }) => passkeys },
    {
      key: "seen",
      header: text.lastSeen,
      cell: ({ last_seen_at: at }) => (at === null ? common.never : timeText(at)),
    },
    {
      key: "actions",
      header: text.actions,
      isHeaderHidden: true,
      isNumber: true,
      cell: (member) =>
        may("manage") && (
          <button
            type="button"
            class="button small"
            aria-label={text.recoverOf(member.name)}
            onClick={() => open({ kind: "recovery", member })}
          >
            {text.recover}
          </button>
        ),
    },
  ];
}

const inviteColumns = (open: Open): Column<PublisherInvite>[] => [
  {
    key: "name",
    header: text.name,
    cell: ({ name, is_recovery: isRecovery }) => (
      <>
        {name} {isRecovery && <span class="tag">{text.recovery}</span>}
      </>
    ),
  },
  { key: "role", header: text.role, cell: ({ role }) => ROLE_NAMES[role] },
  { key: "by", header: text.by, cell: ({ by }) => by },
  { key: "until", header: text.validUntil, cell: ({ expires_at: until }) => timeText(until) },
  {
    key: "withdraw",
    header: text.actions,
    isHeaderHidden: true,
    isNumber: true,
    cell: (invite) =>
      may("manage") && (
        <button
          type="button"
          class="button small danger-text"
          aria-label={text.withdrawOf(invite.name)}
          onClick={() => open({ kind: "withdraw", invite })}
        >
          {text.withdraw}
        </button>
      ),
  },
];
