// The account's apps. Owners and developers can set up further apps; other members only read the list.

import { useState } from "preact/hooks";
import { AddButton, Button } from "../../../shared/components/button";
import { Heading } from "../../../shared/components/heading";
import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Empty } from "../../../shared/components/states";
import { type Column, column, numberColumn } from "../../../shared/components/table";
import { amount, count } from "../../../shared/format";
import { PLATFORM_NAMES, TEST } from "../../../shared/messages/apps";
import { fragment, setSearch } from "../../../shared/navigation";
import { TestTag } from "../../../shared/test-apps";
import { usePages } from "../../../shared/use-pages";
import { common } from "../../messages";
import { apps as text } from "../../messages/apps";
import { appPath, TEST_HASH } from "../../router";
import { may } from "../../session";
import type { OwnAppSummary } from "../../types";
import { CreateApp } from "./create-app";
import { APPS_KEY } from "./keys";
import { appPage } from "../app-names";

export function Apps() {
  const pages = usePages<OwnAppSummary>(APPS_KEY, appPage);
  // The link that led here asks for a test app.
  const [form, setForm] = useState<"app" | "test" | null>(fragment.peek() === TEST_HASH ? "test" : null);
  const close = () => {
    setSearch("", "replace", "");
    setForm(null);
  };
  const mayChange = may("app_settings");
  return (
    <>
      <Heading title={text.title} note={text.intro}>
        {mayChange && (
          <>
            <Button onClick={() => setForm("test")}>{text.addTest}</Button>
            <AddButton onClick={() => setForm("app")}>{text.add}</AddButton>
          </>
        )}
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
      {mayChange && form && <CreateApp isTest={form === "test"} onClose={close} />}
    </>
  );
}

const columns = (mayOpen: boolean): Column<OwnAppSummary>[] => [
  column("name", text.app, ({ app_id, name, test }) => (
    <>
      {mayOpen ? <a href={appPath(app_id)}>{name}</a> : name}
      <TestTag of={test} name={TEST} />
    </>
  )),
  column("id", text.appId, ({ app_id }) => <code>{app_id}</code>),
  column("platform", text.platform, ({ platform }) => PLATFORM_NAMES[platform]),
  column("currency", text.currency, ({ currency }) => text.rate(amount(currency.per_usd), currency.name)),
  column("callback", text.callback, ({ callback_host: host }) => host ?? text.noCallback),
  column("clicks", text.clicks, ({ signs_clicks }) => (signs_clicks ? text.signed : text.unsigned)),
  numberColumn("blocked", text.blocked, ({ blocked_offers: blocked }) => (blocked > 0 ? count(blocked) : common.none)),
];
