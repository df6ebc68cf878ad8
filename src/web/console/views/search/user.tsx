// The rewards of a user of an app.

import { Table } from "../../../shared/components/table";
import { useAppNames } from "../../app-names";
import { search } from "../../messages/search";
import type { UserMatch } from "../../types/search";
import { columns } from "../rewards/columns";
import { rewardsHref } from "../rewards/filter";

const text = search.user;
const MOST_REWARDS = 100;

export function UserFound({ match: { app_id: app, user_id: user, rewards } }: { match: UserMatch }) {
  const { nameOf } = useAppNames();
  return (
    <section class="card" aria-labelledby="user">
      <div class="card-head">
        <h2 id="user">
          <bdi>{text.title(user)}</bdi>
        </h2>
        <span class="note">
          <bdi>{search.inApp(nameOf(app))}</bdi>
        </span>
        <div class="card-tools">
          <a href={rewardsHref({ app, user })}>{text.all}</a>
        </div>
      </div>
      {rewards.length > 0 ? (
        <Table
          stacks
          name={text.table}
          columns={columns(app, false)}
          rows={rewards}
          rowKey={({ transaction_id }) => transaction_id}
        />
      ) : (
        <p class="card-foot">{text.none}</p>
      )}
      {rewards.length >= MOST_REWARDS && <p class="note card-foot">{text.newest}</p>}
    </section>
  );
}
