// One callback of a reward: what is sent, each try with its answer, and its replay.

import { SmallButton } from "../components/button";
import { useQuestion } from "../components/form-dialog";
import { Name } from "../components/name";
import { Section } from "../components/section";
import { Exact } from "../components/sent-request";
import { say } from "../components/status";
import { type Column, column, numberColumn, Table } from "../components/table";
import { inWords } from "../error-text";
import { amount, exactTimeText } from "../format";
import { DELIVERY_HINTS, EVENT_NAMES, replay as replayText, story as text } from "../messages/rewards";
import type { CallbackTry, RewardCallback } from "../types";
import { Delivery } from "./badges";

interface Props {
  callback: RewardCallback;
  currency: string;
  /** Null if the member may not resend it. */
  replay: ((transactionId: string) => Promise<unknown>) | null;
  reload: () => Promise<unknown>;
}

export function StoryCallback({ callback, currency, replay, reload }: Props) {
  const { transaction_id: transactionId, event, delivery, attempts, fields, next_try_ts: next } = callback;
  const [ask, question] = useQuestion(() => ({
    title: replayText.oneTitle,
    text: replayText.oneText,
    button: replayText.one,
    onConfirm: async (close) => {
      try {
        await replay!(transactionId);
      } catch (error) {
        throw inWords(error, REFUSALS);
      }
      close();
      say(replayText.oneSent);
      await reload();
    },
  }));
  return (
    <Section
      title={text.callback(EVENT_NAMES[event])}
      beside={<Delivery delivery={delivery} />}
      tools={replay && <SmallButton onClick={ask}>{replayText.one}</SmallButton>}
    >
      <div class="card-foot">
        <p class="note">
          {DELIVERY_HINTS[delivery]} {next && text.nextTry(next)}
        </p>
        <p>
          {amount(callback.value)} <Name>{currency}</Name>, <code class="mono">{transactionId}</code>
        </p>
        {fields && (
          <>
            <Exact label={text.sent} value={fieldLines(fields)} isOpen={false} />
            <p class="note">{text.sentHint}</p>
          </>
        )}
        {attempts.length === 0 && <p>{text.noTries(delivery)}</p>}
        {attempts.length < callback.attempts_total && attempts.length > 0 && (
          <p class="note">{text.newestTries(attempts.length, callback.attempts_total)}</p>
        )}
      </div>
      {attempts.length > 0 && (
        <Table
          name={`${text.callback(EVENT_NAMES[event])}, ${text.tries.toLowerCase()}`}
          columns={columns}
          rows={attempts}
          rowKey={(_, index) => index}
        />
      )}
      {replay && question}
    </Section>
  );
}

/** The reasons why nothing can be sent, in words. */
const REFUSALS = { nothing_to_send: replayText.nothingToSend, erased: replayText.erased };

const fieldLines = (fields: NonNullable<RewardCallback["fields"]>) =>
  Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

const columns: Column<CallbackTry>[] = [
  column("at", text.tryAt, ({ at }) => <span class="no-wrap">{exactTimeText(at)}</span>),
  numberColumn("ms", text.took, ({ ms }) => text.ms(ms)),
  column("answer", text.answer, ({ http_status: status, body, error }) => (
    <>
      <span class={`badge ${status !== null && status >= 200 && status < 300 ? "delivered" : "dead"}`}>
        {status === null ? text.noAnswer : `HTTP ${status}`}
      </span>
      {(body ?? error) !== undefined && error?.toLowerCase() !== text.noAnswer.toLowerCase() && (
        <code class="answer-text">{body || error || text.emptyAnswer}</code>
      )}
    </>
  )),
];
