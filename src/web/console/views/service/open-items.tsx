// A card with Attention's items of some kinds. In each kind, the longest open items come first.

import type { ComponentChildren } from "preact";
import { type Column, Table } from "../../../shared/components/table";
import type { AttentionKind } from "../../../shared/generated/openapi";
import { get } from "../../api";
import { useAppNames } from "../../app-names";
import { service } from "../../messages/service";
import { SERVICE_POLL_MILLISECONDS, usePolled } from "../../poll";
import { ATTENTION_PATH } from "../../router";
import { Section } from "./section";
import type { AttentionItem } from "../../types";

const text = service.open;
const MAX_ROWS = 25;

interface Props {
  title: string;
  kinds: AttentionKind[];
  none: string;
  columns: (nameOf: (appId: string) => string) => Column<AttentionItem>[];
  children?: ComponentChildren;
}

async function load(kinds: AttentionKind[], isPoll: boolean) {
  const pages = await Promise.all(kinds.map((kind) => get("/attention", { kind, limit: MAX_ROWS }, isPoll)));
  return {
    items: pages.flatMap(({ items }) => items),
    hasMore: pages.some(({ cursor, counts }, at) => cursor !== null || counts[kinds[at]!] > pages[at]!.items.length),
  };
}

export function OpenItems({ title, kinds, none, columns, children }: Props) {
  const cached = usePolled(`open ${kinds}`, (isPoll) => load(kinds, isPoll), undefined, SERVICE_POLL_MILLISECONDS);
  const { nameOf } = useAppNames(cached.data?.items.flatMap(({ app_id: app }) => app ?? []));
  const all = kinds.length > 1 ? ATTENTION_PATH : `${ATTENTION_PATH}?kind=${kinds[0]}`;
  return (
    <Section title={title} of={cached} tools={<a href={all}>{text.all}</a>}>
      {({ items, hasMore }) => (
        <>
          {items.length > 0 ? (
            <Table
              name={title}
              columns={columns(nameOf)}
              rows={items}
              rowKey={({ kind, app_id, subject }) => `${kind} ${app_id} ${subject}`}
            />
          ) : (
            !hasMore && <p class="card-foot">{none}</p>
          )}
          {hasMore && <p class="note card-foot padded-top">{text.more}</p>}
          {children}
        </>
      )}
    </Section>
  );
}
