// The account's apps. Owners and developers set up further ones; analysts read the list.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { api } from "../../api";
import { useCached } from "../../../shared/cache";
import { Heading } from "../../../shared/components/heading";
import { Plus } from "../../../shared/components/icons";
import { Empty, Failed, FormError, Stale } from "../../../shared/components/states";
import { type Column, Table, TableSkeleton } from "../../../shared/components/table";
import { count } from "../../../shared/format";
import { common } from "../../messages";
import { apps as text, PLATFORM_NAMES } from "../../messages/apps";
import { appPath } from "../../router";
import { may, session } from "../../session";
import type { AppPage, ListedApp } from "../../types";
import { CreateApp } from "./create-app";
import { APPS_KEY } from "./keys";

export function Apps() {
  const first = useCached(APPS_KEY, () => api.apps(null));
  // Further pages hold on to the first page that they continue.
  const [kept, setKept] = useState<AppPage | null>(null);
  const [isCreating, setCreating] = useState(false);
  const more = useAction(async () => {
    const next = await api.apps(page!.cursor);
    setKept({ apps: [...page!.apps, ...next.apps], cursor: next.cursor });
  });
  const page = kept ?? first.data;
  const role = session.value?.member.role;
  const mayChange = role !== undefined && may(role, "app_settings");
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        {mayChange && (
          <button type="button" class="button primary" onClick={() => setCreating(true)}>
            <Plus /> {text.add}
          </button>
        )}
      </Heading>
      <Stale of={first} retry={first.reload} />
      {!page ? (
        first.error ? (
          <Failed error={first.error} retry={first.reload} />
        ) : (
          <div class="card">
            <TableSkeleton rows={4} />
          </div>
        )
      ) : page.apps.length === 0 ? (
        <Empty title={text.emptyTitle}>{mayChange ? text.empty : text.emptyAnalyst}</Empty>
      ) : (
        <>
          <div class="card table-card">
            <Table
              stacks
              name={text.title}
              columns={columns(mayChange)}
              rows={page.apps}
              rowKey={({ app_id }) => app_id}
            />
          </div>
          <FormError error={more.error} />
          {page.cursor && (
            <button type="button" class="button" aria-disabled={more.isRunning} onClick={() => void more.run()}>
              {text.more}
            </button>
          )}
        </>
      )}
      {isCreating && <CreateApp onClose={() => setCreating(false)} />}
    </>
  );
}

const columns = (mayOpen: boolean): Column<ListedApp>[] => [
  {
    key: "name",
    header: text.app,
    cell: ({ app_id, name }) => (mayOpen ? <a href={appPath(app_id)}>{name}</a> : name),
  },
  { key: "id", header: text.appId, cell: ({ app_id }) => <code>{app_id}</code> },
  { key: "platform", header: text.platform, cell: ({ platform }) => PLATFORM_NAMES[platform] },
  {
    key: "currency",
    header: text.currency,
    cell: ({ currency }) => text.rate(String(currency.per_usd), currency.name),
  },
  { key: "callback", header: text.callback, cell: ({ callback_host: host }) => host ?? text.noCallback },
  { key: "clicks", header: text.clicks, cell: ({ signs_clicks }) => (signs_clicks ? text.signed : text.unsigned) },
  {
    key: "blocked",
    header: text.blocked,
    isNumber: true,
    cell: ({ blocked_offers: blocked }) => (blocked > 0 ? count(blocked) : common.none),
  },
];
