// Objects near their limit, sums that were refused, and caps near their end.

import { useCached } from "../../../pages/cache";
import { type Column, Table } from "../../../pages/components/table";
import { clockText, exactTimeText } from "../../../pages/format";
import { attention as attentionApi } from "../../api/attention";
import { offersApi } from "../../api/offers";
import { attention, KIND_NAMES } from "../../messages/attention";
import { service } from "../../messages/service";
import { appPath, ATTENTION_PATH, offerPath } from "../../router";
import type { AttentionItem } from "../../types/attention";
import type { NearCap } from "../../types/offers";
import { NEAR_CAPS_KEY } from "../cache-keys";
import { appOf } from "../attention/columns";
import { Meter } from "./meter";
import { MOST_BYTES } from "./publication";
import { Section } from "./section";

const text = service.limits;
const MOST_ROWS = 10;

async function load(): Promise<AttentionItem[]> {
  const pages = await Promise.all([
    attentionApi({ kind: "near_limit", limit: MOST_ROWS }),
    attentionApi({ kind: "batch_refused", limit: MOST_ROWS }),
  ]);
  return pages.flatMap(({ items }) => items);
}

export function Limits() {
  const cached = useCached("near limits", load);
  return (
    <Section title={text.title} of={cached} tools={<a href={`${ATTENTION_PATH}?kind=near_limit`}>{text.all}</a>}>
      {(items) =>
        items.length > 0 ? (
          <Table
            stacks
            name={text.title}
            columns={columns}
            rows={items}
            rowKey={({ kind, subject }) => `${kind} ${subject}`}
          />
        ) : (
          <p class="card-foot">{text.none}</p>
        )
      }
    </Section>
  );
}

const columns: Column<AttentionItem>[] = [
  {
    key: "object",
    header: text.object,
    cell: (item) => {
      const app = appOf(item);
      const name = <code class="wrap">{item.subject}</code>;
      return (
        <>
          {app === null ? name : <a href={appPath(app)}>{name}</a>}
          <span class="cell-second">{KIND_NAMES[item.kind]}</span>
        </>
      );
    },
  },
  {
    key: "used",
    header: text.used,
    cell: ({ bytes, subject, reason }) =>
      bytes === undefined ? (
        <span class="wrap">{attention.reasonText(reason)}</span>
      ) : (
        <Meter label={subject} value={bytes} most={MOST_BYTES} text={attention.of10(bytes)} />
      ),
  },
  { key: "since", header: text.since, cell: ({ since }) => exactTimeText(since / 1000) },
];

export function Caps() {
  const { caps } = service;
  const cached = useCached(NEAR_CAPS_KEY, offersApi.nearCaps);
  const asOf = cached.data?.as_of;
  return (
    <Section title={caps.title} of={cached} note={asOf ? caps.note(clockText(asOf * 1000)) : undefined}>
      {(data) =>
        data.caps.length > 0 ? (
          <Table
            stacks
            name={caps.title}
            columns={capColumns}
            rows={data.caps}
            rowKey={({ offer_id, kind }) => `${offer_id} ${kind}`}
          />
        ) : (
          <p class="card-foot">{caps.none}</p>
        )
      }
    </Section>
  );
}

const capColumns: Column<NearCap>[] = [
  {
    key: "offer",
    header: service.caps.offer,
    cell: ({ offer_id, name }) => (
      <a href={offerPath(offer_id)}>
        <bdi>{name ?? offer_id}</bdi>
      </a>
    ),
  },
  { key: "kind", header: service.caps.kind, cell: ({ kind }) => service.caps.kinds[kind] },
  {
    key: "used",
    header: service.caps.used,
    cell: ({ offer_id, name, used, lim }) => <Meter label={name ?? offer_id} value={used} most={lim} text={service.caps.of(used, lim)} />,
  },
];
