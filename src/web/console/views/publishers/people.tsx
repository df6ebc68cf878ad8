// The people who can sign in to a publisher's dashboard: members and open invites.

import { MembersOf } from "../../../shared/account/members";
import { useCached } from "../../../shared/cache";
import { Empty } from "../../../shared/components/states";
import { publishersApi as api } from "../../api/publishers";
import { people as text } from "../../messages/publishers";
import { may } from "../../session";
import type { Publisher } from "../../types/publishers";
import { Part } from "./part";

export function People({ publisher: { publisher_id: id, closed } }: { publisher: Publisher }) {
  return (
    <MembersOf
      of={useCached(`people ${id}`, () => api.people(id))}
      calls={{
        roles: ["owner", "developer", "analyst", "user_support"],
        usualRole: "owner",
        invite: (name, role) => api.invite(id, name, role),
        recover: (memberId) => api.recover(id, memberId),
        withdraw: (inviteId) => api.withdraw(id, inviteId),
      }}
      words={text}
      name={text.title}
      empty={<Empty title={text.emptyTitle}>{text.empty}</Empty>}
      isReadOnly={closed || !may("manage")}
      frame={(invite, lists) => (
        <Part title={text.title} intro={text.intro} action={invite}>
          {lists}
        </Part>
      )}
    />
  );
}
