// The apps of a publisher.

import { LoadedTable } from "../../../shared/components/loaded";
import { More } from "../../../shared/components/more";
import { Empty } from "../../../shared/components/states";
import { type Column, column } from "../../../shared/components/table";
import { PLATFORM_NAMES } from "../../../shared/messages/apps";
import { pageOf } from "../../../shared/page-of";
import { type Pages, usePages } from "../../../shared/use-pages";
import type { KeptApp } from "../../../shared/generated/openapi";
import { get } from "../../api";
import { AppLink } from "../../components/links";
import { common } from "../../messages";
import { publisherApps as text } from "../../messages/publishers";

const PAGE_ROWS = 100;

export const useApps = (publisher_id: string) =>
  usePages(`apps of ${publisher_id}`, (cursor) =>
    get("/apps", { publisher_id, limit: PAGE_ROWS, cursor }).then(pageOf("apps")),
  );

export function Apps({ apps }: { apps: Pages<KeptApp> }) {
  return (
    <section aria-labelledby="apps-title">
      <h2 id="apps-title">{text.title}</h2>
      <LoadedTable
        of={apps.list}
        lines={3}
        empty={<Empty title={text.emptyTitle}>{text.empty}</Empty>}
        isCompact
        name={text.title}
        columns={COLUMNS}
        rowKey="app_id"
      />
      <More of={apps} busy={common.loading} />
    </section>
  );
}

/** Only the host: the path may name a receiver's script, and macros are of no use here. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

const COLUMNS: Column<KeptApp>[] = [
  column("name", text.app, ({ app_id, name }) => <AppLink id={app_id} name={name} />),
  column("id", text.appId, ({ app_id }) => <code>{app_id}</code>),
  column("platform", text.platform, ({ platform }) => PLATFORM_NAMES[platform]),
  column("currency", text.currency, ({ currency }) => text.rate(currency.per_usd, currency.name)),
  column("callback", text.callback, ({ callback }) => (callback ? hostOf(callback.url) : text.noCallback)),
];
