// The account's apps. Owners and developers set up further ones; others read the list.

import { useState } from "preact/hooks";
import { AddButton } from "../../../shared/components/button";
import { Heading } from "../../../shared/components/heading";
import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Empty } from "../../../shared/components/states";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { amount, count } from "../../../shared/format";
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
        {mayChange && <AddButton onClick={() => setCreating(true)}>{text.add}</AddButton>}
      </Heading>
      <LoadedTable
        of={pages.list}
        lines={4}
        empty={<Empty title={text.emptyTitle}>{mayChange ? text.empty : text.emptyAnalyst}</Empty>}
        name={text.title}
        columns={columns(mayChange)}
        rowKey="app_id"
      >
        <More of={pages} label={text.more} />
      </LoadedTable>
      {isCreating && <CreateApp onClose={() => setCreating(false)} />}
    </>
  );
}

const columns = (mayOpen: boolean): Column<ListedApp>[] => [
  column("name", text.app, ({ app_id, name }) => (mayOpen ? <a href={appPath(app_id)}>{name}</a> : name)),
  column("id", text.appId, ({ app_id }) => <code>{app_id}</code>),
  column("platform", text.platform, ({ platform }) => PLATFORM_NAMES[platform]),
  column("currency", text.currency, ({ currency }) => text.rate(amount(currency.per_usd), currency.name)),
  column("callback", text.callback, ({ callback_host: host }) => host ?? text.noCallback),
  column("clicks", text.clicks, ({ signs_clicks }) => (signs_clicks ? text.signed : text.unsigned)),
  numberColumn("blocked", text.blocked, ({ blocked_offers: blocked }) => (blocked > 0 ? count(blocked) : common.none)),
];
