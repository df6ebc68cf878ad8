// The apps of a publisher.

import { More } from "../../../shared/components/more";
import { Name } from "../../../shared/components/name";
import { Empty, Failed, Stale } from "../../../shared/components/states";
import { type Column, Table, TableSkeleton } from "../../../shared/components/table";
import { type Pages, usePages } from "../../../shared/use-pages";
import { appsApi as api } from "../../api/apps";
import { PLATFORM_NAMES } from "../../messages/apps";
import { publisherApps as text } from "../../messages/publishers";
import { appPath } from "../../router";
import type { App } from "../../types/apps";

const PAGE_ROWS = 100;

export const useApps = (publisherId: string): Pages<App> =>
  usePages<App>(`apps of ${publisherId}`, async (cursor) => {
    const page = await api.list(PAGE_ROWS, cursor, publisherId);
    return { rows: page.apps, cursor: page.cursor };
  });

export function Apps({ apps }: { apps: Pages<App> }) {
  const { rows, first } = apps;
  return (
    <section aria-labelledby="apps-title">
      <h2 id="apps-title">{text.title}</h2>
      <Stale of={first} retry={apps.reload} />
      {!rows ? (
        first.error ? (
          <Failed error={first.error} retry={apps.reload} compact />
        ) : (
          <div class="card">
            <TableSkeleton rows={3} />
          </div>
        )
      ) : rows.length === 0 ? (
        <Empty title={text.emptyTitle}>{text.empty}</Empty>
      ) : (
        <div class="card table-card">
          <Table stacks name={text.title} columns={COLUMNS} rows={rows} rowKey={({ app_id }) => app_id} />
        </div>
      )}
      <More of={apps} label={text.more} busy={text.loading} />
    </section>
  );
}

/** The host alone: the path may name a receiver's script, and macros tell nothing here. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

const COLUMNS: Column<App>[] = [
  {
    key: "name",
    header: text.app,
    cell: ({ app_id, name }) => (
      <a href={appPath(app_id)}>
        <Name>{name}</Name>
      </a>
    ),
  },
  { key: "id", header: text.appId, cell: ({ app_id }) => <code>{app_id}</code> },
  { key: "platform", header: text.platform, cell: ({ platform }) => PLATFORM_NAMES[platform] },
  { key: "currency", header: text.currency, cell: ({ currency }) => text.rate(currency.per_usd, currency.name) },
  {
    key: "callback",
    header: text.callback,
    cell: ({ callback }) => (callback ? hostOf(callback.url) : text.noCallback),
  },
];
