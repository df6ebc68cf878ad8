// The terms in force and the earlier terms, and which of them apply to earlier clicks.

import { useState } from "preact/hooks";
import { put, refresh, useCached } from "../../../shared/cache";
import { confirmed } from "../../../shared/change";
import type { Tagged } from "../../../shared/client";
import { DangerButton, SmallButton } from "../../../shared/components/button";
import { useQuestion } from "../../../shared/components/form-dialog";
import { Loaded } from "../../../shared/components/loaded";
import { Card } from "../../../shared/components/part";
import { type Column, column, Table, TableSkeleton } from "../../../shared/components/table";
import { exactMoney, timeText } from "../../../shared/format";
import type { KeptOffer, TermsList } from "../../../shared/generated/openapi";
import { get, putTagged } from "../../api";
import { offer as messages, ONCE_PER_NAMES } from "../../messages/offers";
import { may, nowSeconds } from "../../session";
import { useAdvertisers } from "../use-advertisers";
import { offerKey, offersKey, termsKey } from "../cache-keys";
import { writable } from "./draft";

const text = messages.terms;
const SHOWN = 3;

interface Props {
  offer: Tagged<KeptOffer>;
  reload: () => Promise<unknown>;
}

export function TermsOf({ offer, reload }: Props) {
  const { offer_id: id, terms_since: since } = offer;
  const terms = useCached(termsKey(id), () => get("/offers/{offer_id}/terms", { offer_id: id }));
  const { nameOf } = useAdvertisers();
  const [isWhole, setWhole] = useState(false);
  const pay = async () => {
    const document = { ...writable(offer), terms_since: nowSeconds() };
    put(offerKey(id), await putTagged("/offers/{offer_id}", { offer_id: id }, document, offer));
    for (const key of [offersKey(), termsKey(id)]) void refresh(key);
  };
  const [ask, question] = useQuestion(() => ({
    title: text.payTitle,
    text: text.payText,
    button: text.payIt,
    dangerous: true,
    onConfirm: confirmed(pay, text.payDone),
    reload: async () => void (await Promise.all([reload(), terms.reload()])),
  }));
  const all = terms.data?.revisions;
  return (
    <Card title={text.title} intro={since == null ? text.intro : `${text.intro} ${text.since(since)}`}>
      <div class="part-table">
        <Loaded of={terms} loading={<TableSkeleton rows={2} />} isCompact>
          {({ current, revisions }) => (
            <Table
              name={text.title}
              columns={columns(current, nameOf)}
              rows={isWhole ? revisions : revisions.slice(0, SHOWN)}
              rowKey="revision"
            />
          )}
        </Loaded>
      </div>
      {all && !isWhole && all.length > SHOWN && (
        <SmallButton onClick={() => setWhole(true)}>{text.all(all.length)}</SmallButton>
      )}
      {all && all.length > 1 && may("manage") && <DangerButton onClick={ask}>{text.pay}</DangerButton>}
      {question}
    </Card>
  );
}

const columns = (current: number, nameOf: (id: string) => string): Column<TermsList["revisions"][number]>[] => [
  column("from", text.revision, ({ revision }) => (
    <>
      {timeText(revision)}
      <span class="cell-second">{text.number(revision)}</span>
    </>
  )),
  column("until", text.until, ({ revision, superseded_at: end }) =>
    revision === current ? <span class="badge approved">{text.inForce}</span> : end === null ? null : timeText(end),
  ),
  column("goals", text.goals, ({ terms }) => (
    <ul class="term-goals">
      {terms.goals.map(({ id, payout_usd, gl_val }) => (
        <li key={id}>
          {exactMoney(payout_usd)} <span class="note">{gl_val === null ? id : `${id}, ${gl_val}`}</span>
        </li>
      ))}
    </ul>
  )),
  column("window", text.window, ({ terms }) => (
    <span class="lines">
      <span>{text.days(terms.conversion_window_days)}</span>
      <span class="note">{ONCE_PER_NAMES[terms.once_per]}</span>
    </span>
  )),
  column("advertiser", text.advertiser, ({ terms }) => <div class="advertiser">{nameOf(terms.advertiser_id)}</div>),
];
