// A day of an app: how many rewards came late or by former terms, and whether the reports have all of it.

import { useState } from "preact/hooks";
import { useCached } from "../../../pages/cache";
import { Field } from "../../../pages/components/field";
import { Empty, Failed, Skeleton } from "../../../pages/components/states";
import { type Column, Table } from "../../../pages/components/table";
import { addDays, count, isDate, money } from "../../../pages/format";
import { search, setSearch } from "../../../pages/navigation";
import { ShortId } from "../../../pages/rewards/badges";
import { serviceApi } from "../../api/service";
import { AppField, isAppId } from "../../components/app-field";
import { rewards } from "../../messages/rewards";
import { service } from "../../messages/service";
import { offerPath, rewardPath } from "../../router";
import { session } from "../../session";
import type { Comparison } from "../../types/service";

const text = service.day;
const MICROS = 1_000_000;

export function Day() {
  const query = new URLSearchParams(search.value);
  const asked = { app: query.get("app") ?? "", date: query.get("date") ?? "" };
  const yesterday = session.value ? addDays(session.value.today, -1) : "";
  const [app, setApp] = useState(asked.app);
  const [date, setDate] = useState(asked.date || yesterday);
  const [isTried, setTried] = useState(false);
  const isAsked = isAppId(asked.app) && isDate(asked.date);
  return (
    <section class="card" aria-labelledby="day">
      <div class="card-head">
        <h2 id="day">{text.title}</h2>
      </div>
      <div class="card-foot">
        <p class="note">{text.note}</p>
        <form
          class="day-form"
          onSubmit={(event) => {
            event.preventDefault();
            setTried(true);
            if (!isAppId(app) || !isDate(date)) return;
            setSearch(`?${new URLSearchParams({ app, date })}`, "push");
          }}
        >
          <AppField value={app} onChange={setApp} error={isTried && !isAppId(app) ? rewards.badApp : null} />
          <Field label={text.date} error={isTried && !isDate(date) ? text.badDate : null}>
            {(props) => (
              <input {...props} type="date" value={date} onInput={(event) => setDate(event.currentTarget.value)} />
            )}
          </Field>
          <button type="submit" class="button">
            {text.show}
          </button>
        </form>
      </div>
      {isAsked && <Result {...asked} />}
    </section>
  );
}

function Result({ app, date }: { app: string; date: string }) {
  const key = `day ${app} ${date}`;
  const { data, error, reload } = useCached(key, () => serviceApi.reconcile(app, date));
  if (!data) {
    if (!error) return <Skeleton class="list-skeleton" lines={4} />;
    return error.status === 404 ? <Empty title={text.notFound} /> : <Failed error={error} retry={reload} compact />;
  }
  return <Sums of={data} />;
}

const usd = (micros: number) => money(micros / MICROS);

function Sums({ of }: { of: Comparison }) {
  const { rewards: all, difference_micro_usd: difference, transactions } = of;
  const facts: [string, string][] = [
    [text.rewards, count(all)],
    [text.late, text.share(of.rewards_after_24_h, all)],
    [text.superseded, text.share(of.rewards_by_superseded_terms, all)],
    [text.paid, usd(of.paid_micro_usd)],
    [text.inReports, usd(of.ledger_micro_usd)],
    [text.waiting, usd(of.waiting_micro_usd)],
    [text.difference, usd(difference)],
  ];
  return (
    <>
      <dl class="facts wide-names">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class={difference === 0 ? "card-foot" : "card-foot failed-text"} role="status">
        {difference === 0 ? text.same(of.date, of.waiting_micro_usd) : text.differs}
      </p>
      {transactions.length > 0 && (
        <Table
          stacks
          name={text.difference}
          columns={columns(of.app_id)}
          rows={transactions}
          rowKey={({ transaction_id }) => transaction_id}
        />
      )}
    </>
  );
}

const columns = (app: string): Column<Comparison["transactions"][number]>[] => [
  {
    key: "transaction",
    header: text.transaction,
    cell: ({ transaction_id: id }) => (
      <a href={rewardPath(app, id)}>
        <ShortId id={id} />
      </a>
    ),
  },
  { key: "offer", header: text.offer, cell: ({ offer_id: id }) => <a href={offerPath(id)}>{id}</a> },
  { key: "paid", header: text.paid, isNumber: true, cell: ({ paid_micro_usd }) => usd(paid_micro_usd) },
];
