// Callbacks that fail or are switched off, those of longest standing first.

import { useCached } from "../../../pages/cache";
import { Name } from "../../../pages/components/name";
import { type Column, Table } from "../../../pages/components/table";
import { exactTimeText } from "../../../pages/format";
import { attention as attentionApi } from "../../api/attention";
import { useAppNames } from "../../app-names";
import { CallbackBadge } from "../../components/callback-badge";
import { attention } from "../../messages/attention";
import { service } from "../../messages/service";
import { appPath, ATTENTION_PATH } from "../../router";
import type { AttentionItem } from "../../types/attention";
import { AskEndpoints } from "./ask-endpoints";
import { Section } from "./section";

const text = service.endpoints;
const KINDS = ["disabled", "failing"] as const;
const MOST_ROWS = 25;

type Endpoint = AttentionItem & { app_id: string; kind: (typeof KINDS)[number] };

async function load() {
  const pages = await Promise.all(KINDS.map((kind) => attentionApi({ kind, limit: MOST_ROWS })));
  return {
    endpoints: pages.flatMap(({ items }) => items) as Endpoint[],
    hasMore: pages.some(({ cursor }) => cursor !== null),
  };
}

export function Endpoints() {
  const cached = useCached("endpoints", load);
  const { nameOf } = useAppNames(cached.data?.endpoints.map(({ app_id }) => app_id));
  return (
    <Section title={text.title} of={cached} lines={2} tools={<a href={ATTENTION_PATH}>{text.all}</a>}>
      {({ endpoints, hasMore }) => (
        <>
          {endpoints.length === 0 && <p class="card-foot">{text.well}</p>}
          {endpoints.length > 0 && (
            <Table
              stacks
              name={text.title}
              columns={columns(nameOf)}
              rows={endpoints}
              rowKey={({ app_id, kind }) => `${kind} ${app_id}`}
            />
          )}
          {hasMore && <p class="note card-foot padded-top">{text.more}</p>}
          <AskEndpoints />
        </>
      )}
    </Section>
  );
}

const columns = (nameOf: (appId: string) => string): Column<Endpoint>[] => [
  {
    key: "app",
    header: text.app,
    cell: ({ app_id: app }) => (
      <a href={appPath(app)}>
        <Name>{nameOf(app)}</Name>
      </a>
    ),
  },
  { key: "state", header: text.state, cell: ({ kind }) => <CallbackBadge state={kind} /> },
  { key: "since", header: text.since, cell: ({ since }) => exactTimeText(since / 1000) },
  { key: "reason", header: text.reason, cell: ({ reason }) => <span class="wrap">{attention.reasonText(reason)}</span> },
];
