// The people who can sign in to a publisher's dashboard: members and open invites.

import { MembersOf } from "../../../shared/account/members";
import { useCached } from "../../../shared/cache";
import { Empty } from "../../../shared/components/states";
import type { AccountRole, KeptPublisher } from "../../../shared/generated/openapi";
import { get, post, remove } from "../../api";
import { people as text } from "../../messages/publishers";
import { may } from "../../session";
import { Part } from "./part";

export function People({ publisher: { publisher_id, closed } }: { publisher: KeptPublisher }) {
  return (
    <MembersOf
      of={useCached(`people ${publisher_id}`, () => get("/publishers/{publisher_id}/members", { publisher_id }))}
      calls={{
        roles: ["owner", "developer", "analyst", "user_support"],
        usualRole: "owner",
        invite: (name, role) =>
          post("/publishers/{publisher_id}/invites", { publisher_id }, { name, role: role as AccountRole }),
        recover: (member_id) =>
          post("/publishers/{publisher_id}/members/{member_id}/recovery", { publisher_id, member_id }),
        withdraw: (invite_id) => remove("/publishers/{publisher_id}/invites/{invite_id}", { publisher_id, invite_id }),
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
