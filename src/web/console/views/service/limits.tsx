// Totals that are missing from the reports, objects near their limit, and caps that are nearly used up.

import { useCached } from "../../../shared/cache";
import { type Column, column, TableOr } from "../../../shared/components/table";
import { clockText, exactTimeText } from "../../../shared/format";
import type { NearCaps } from "../../../shared/generated/openapi";
import { get } from "../../api";
import { attention } from "../../messages/attention";
import { service } from "../../messages/service";
import { appPath, offerPath } from "../../router";
import { NEAR_CAPS_KEY } from "../cache-keys";
import { appOf, columns } from "../attention/columns";
import { Meter } from "./meter";
import { OpenItems } from "./open-items";
import { MAX_BYTES } from "./publication";
import { Section } from "./section";
import type { AttentionItem } from "../../types";

const text = service.limits;

export const Unsent = () => (
  <OpenItems
    {...service.unsent}
    kinds={["batch_refused", "batch_late"]}
    columns={(nameOf) => columns(nameOf).filter(({ key }) => key !== "amount" && key !== "repair")}
  />
);

export const Limits = () => (
  <OpenItems title={text.title} kinds={["near_limit"]} none={text.none} columns={() => sizeColumns} />
);

const sizeColumns: Column<AttentionItem>[] = [
  column("object", text.object, (item) => {
    const app = appOf(item);
    const name = <code class="wrap">{item.subject}</code>;
    return app === null ? name : <a href={appPath(app)}>{name}</a>;
  }),
  column("used", text.used, ({ bytes = 0, subject }) => (
    <Meter label={subject} value={bytes} most={MAX_BYTES} text={attention.of10(bytes)} />
  )),
  column("since", text.since, ({ since_ms: since }) => exactTimeText(since / 1000)),
];

export function Caps() {
  const { caps } = service;
  const cached = useCached(NEAR_CAPS_KEY, () => get("/caps", {}));
  const asOf = cached.data?.as_of;
  return (
    <Section title={caps.title} of={cached} note={asOf ? caps.note(clockText(asOf * 1000)) : undefined}>
      {(data) => (
        <TableOr
          none={caps.none}
          name={caps.title}
          columns={capColumns}
          rows={data.caps}
          rowKey={({ offer_id, kind }) => `${offer_id} ${kind}`}
        />
      )}
    </Section>
  );
}

const capColumns: Column<NearCaps["caps"][number]>[] = [
  column("offer", service.caps.offer, ({ offer_id, name }) => (
    <a href={offerPath(offer_id)}>
      <bdi>{name ?? offer_id}</bdi>
    </a>
  )),
  column("kind", service.caps.kind, ({ kind }) => service.caps.kinds[kind]),
  column("used", service.caps.used, ({ offer_id, name, used, lim }) => (
    <Meter label={name ?? offer_id} value={used} most={lim} text={service.caps.of(used, lim)} />
  )),
];
