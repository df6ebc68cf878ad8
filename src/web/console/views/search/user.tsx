// The rewards of a user of an app.

import { Section } from "../../../shared/components/section";
import { Table } from "../../../shared/components/table";
import { useAppNames } from "../../app-names";
import { search } from "../../messages/search";
import { columns } from "../rewards/columns";
import { rewardsHref } from "../rewards/filter";
import type { UserMatch } from "./matches";

const text = search.user;
const MAX_REWARDS = 100;

export function UserFound({ match: { app_id: app, user_id: user, rewards } }: { match: UserMatch }) {
  const { nameOf } = useAppNames();
  return (
    <Section
      title={<bdi>{text.title(user)}</bdi>}
      beside={
        <span class="note">
          <bdi>{search.inApp(nameOf(app))}</bdi>
        </span>
      }
      tools={<a href={rewardsHref({ app, user })}>{text.all}</a>}
    >
      {rewards.length > 0 ? (
        <Table name={text.table} columns={columns(app, false)} rows={rewards} rowKey="transaction_id" />
      ) : (
        <p class="card-foot">{text.none}</p>
      )}
      {rewards.length >= MAX_REWARDS && <p class="note card-foot">{text.newest}</p>}
    </Section>
  );
}
