// Compares a day of an app with the publisher's ledger, and says the difference in words. The URL holds the app and the
// day.

import { useState } from "preact/hooks";
import { useCached } from "../../shared/cache";
import { DateInput } from "../../shared/components/field";
import { Form, SubmitButton } from "../../shared/components/form";
import { Card } from "../../shared/components/part";
import { Failed, Skeleton } from "../../shared/components/states";
import { type Column, column, numberColumn, Table } from "../../shared/components/table";
import { addDays, count, exactMoneyOf, isDate } from "../../shared/format";
import { search, setSearch } from "../../shared/navigation";
import { queryText } from "../../shared/query-text";
import type { Comparison } from "../../shared/generated/openapi";
import { get } from "../api";
import { isAppId } from "../ids";
import { reconcile as text } from "../messages/reconcile";
import { rewards } from "../messages/rewards";
import { offerPath, rewardPath } from "../router";
import { today } from "../session";
import { AppField } from "./app-field";

type ComparedOutbox = Comparison["outboxes"][number];

interface Asked {
  app: string;
  date: string;
}

/** `appId` is the page's app. Without it, the app is chosen here. */
export function Reconcile({ appId }: { appId?: string }) {
  const query = new URLSearchParams(search.value);
  const asked = { app: appId ?? query.get("app") ?? "", date: query.get("date") ?? "" };
  const [app, setApp] = useState(asked.app);
  const [date, setDate] = useState(asked.date || addDays(today(), -1));
  const [isTried, setTried] = useState(false);
  const isComplete = (of: Asked) => isAppId(of.app) && isDate(of.date);
  const key = isComplete(asked) ? `reconcile ${asked.app} ${asked.date}` : null;
  const { data, error, isLoading, reload } = useCached(key, () => get("/reconcile", asked));
  const compare = () => {
    setTried(true);
    if (isLoading || !isComplete({ app, date })) return;
    if (app === asked.app && date === asked.date) void reload();
    else setSearch(queryText({ app: appId ? null : app, date }), "push");
  };
  return (
    <Card title={text.title} intro={text.intro}>
      <Form class={appId ? "row" : "inline-form"} onSubmit={compare}>
        {!appId && <AppField value={app} onChange={setApp} error={isTried && !isAppId(app) ? rewards.badApp : null} />}
        <DateInput
          label={text.day}
          error={isTried && !isDate(date) ? text.badDay : null}
          value={date}
          onChange={setDate}
        />
        <SubmitButton class="button" isDisabled={isLoading}>
          {isLoading ? text.comparing : text.compare}
        </SubmitButton>
      </Form>
      {key !== null &&
        (error && !isLoading ? (
          error.status === 404 ? (
            <p role="status">{text.notFound}</p>
          ) : (
            <Failed error={error} retry={reload} compact />
          )
        ) : data ? (
          <Result comparison={data} />
        ) : (
          <Skeleton lines={4} />
        ))}
    </Card>
  );
}

function verdict({ date, difference_micro_usd: difference, waiting_micro_usd: waiting }: Comparison): string {
  if (difference !== 0) return text.differ(date, difference);
  return waiting === 0 ? text.agree(date) : text.agreeWaiting(date, waiting);
}

function Result({ comparison }: { comparison: Comparison }) {
  const { outboxes, transactions, difference_micro_usd: difference } = comparison;
  const differing = outboxes.filter((outbox) => outbox.difference_micro_usd !== 0).map(({ outbox }) => outbox);
  const isQuiet = ({ rewards, reversals, waiting_micro_usd: waiting, difference_micro_usd: off }: ComparedOutbox) =>
    rewards === 0 && reversals === 0 && waiting === 0 && off === 0;
  const busy = outboxes.filter((outbox) => !isQuiet(outbox));
  const quiet = outboxes.length - busy.length;
  return (
    <div class="comparison" role="region" aria-label={text.result}>
      <p class={`verdict ${difference === 0 ? "passed" : "failed-text"}`} role="status">
        {verdict(comparison)}
      </p>
      {difference !== 0 && (
        <p>
          {text.again} {differing.length > 0 ? text.outboxDiffers(differing) : text.ledgerDiffers}
        </p>
      )}
      <p>{text.rewards(comparison)}</p>
      <Table name={text.sums} columns={SUM_COLUMNS} rows={sumsOf(comparison)} rowKey="what" stacks={false} />
      {busy.length > 0 && (
        <>
          <h3>{text.outboxes}</h3>
          <Table name={text.outboxes} columns={OUTBOX_COLUMNS} rows={busy} rowKey="outbox" />
        </>
      )}
      {busy.length > 0 && quiet > 0 && <p class="note">{text.leftOut(quiet)}</p>}
      {transactions.length > 0 && (
        <>
          <h3>{text.transactions}</h3>
          <p class="note">{text.transactionsNote}</p>
          <Table
            name={text.transactions}
            columns={transactionColumns(comparison.app_id)}
            rows={transactions}
            rowKey="transaction_id"
          />
        </>
      )}
    </div>
  );
}

interface Sum {
  what: string;
  micro: number;
}

const sumsOf = (comparison: Comparison): Sum[] => [
  { what: text.paid, micro: comparison.paid_micro_usd },
  { what: text.waiting, micro: comparison.waiting_micro_usd },
  { what: text.ledger, micro: comparison.ledger_micro_usd },
  { what: text.difference, micro: comparison.difference_micro_usd },
];

const SUM_COLUMNS: Column<Sum>[] = [
  column("what", text.what, ({ what }) => what),
  numberColumn("micro", text.amount, ({ micro }) => exactMoneyOf(micro)),
];

const microColumn = (
  key: "paid_micro_usd" | "waiting_micro_usd" | "ledger_micro_usd",
  header: string,
): Column<ComparedOutbox> => numberColumn(key, header, (outbox) => exactMoneyOf(outbox[key]));

const OUTBOX_COLUMNS: Column<ComparedOutbox>[] = [
  column("outbox", text.outbox, ({ outbox }) => outbox),
  numberColumn("rewards", text.rewardsCount, ({ rewards }) => count(rewards)),
  numberColumn("reversals", text.reversals, ({ reversals }) => count(reversals)),
  microColumn("paid_micro_usd", text.paidShort),
  microColumn("waiting_micro_usd", text.waitingShort),
  microColumn("ledger_micro_usd", text.ledgerShort),
  numberColumn("difference", text.difference, ({ difference_micro_usd: micro, behind }) =>
    behind ? `${exactMoneyOf(micro)}, ${text.behind[behind]}` : text.noDifference,
  ),
];

const transactionColumns = (appId: string): Column<Comparison["transactions"][number]>[] => [
  column("id", text.transaction, ({ transaction_id: id }) => (
    <a href={rewardPath(appId, id)}>
      <code>{id}</code>
    </a>
  )),
  column("offer", text.offer, ({ offer_id: id }) => <a href={offerPath(id)}>{id}</a>),
  numberColumn("paid", text.paidShort, ({ paid_micro_usd: micro }) => exactMoneyOf(micro)),
];
