// The account's apps. Owners and developers set up further ones; analysts read the list.

import { useState } from "preact/hooks";
import { Button } from "../../../shared/components/button";
import { Heading } from "../../../shared/components/heading";
import { Plus } from "../../../shared/components/icons";
import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Empty } from "../../../shared/components/states";
import type { Column } from "../../../shared/components/table";
import { count } from "../../../shared/format";
import { PLATFORM_NAMES } from "../../../shared/messages/apps";
import { usePages } from "../../../shared/use-pages";
import { common } from "../../messages";
import { apps as text } from "../../messages/apps";
import { appPath } from "../../router";
import { may, session } from "../../session";
import type { ListedApp } from "../../types";
import { CreateApp } from "./create-app";
import { APPS_KEY } from "./keys";
import { appPage } from "../app-names";

export function Apps() {
  const pages = usePages<ListedApp>(APPS_KEY, appPage);
  const [isCreating, setCreating] = useState(false);
  const role = session.value?.member.role;
  const mayChange = role !== undefined && may(role, "app_settings");
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        {mayChange && (
          <Button class="button primary" onClick={() => setCreating(true)}>
            <Plus /> {text.add}
          </Button>
        )}
      </Heading>
      <LoadedTable
        of={pages.list}
        lines={4}
        empty={<Empty title={text.emptyTitle}>{mayChange ? text.empty : text.emptyAnalyst}</Empty>}
        name={text.title}
        columns={columns(mayChange)}
        rowKey={({ app_id }) => app_id}
      >
        <More of={pages} label={text.more} />
      </LoadedTable>
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
