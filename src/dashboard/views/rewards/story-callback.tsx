// One callback of a reward: what is sent, each try with its answer, and its replay.

import { useId, useState } from "preact/hooks";
import { ApiError } from "../../../pages/client";
import { api } from "../../api";
import { Confirm } from "../../../pages/components/dialog";
import { say } from "../../../pages/components/status";
import { type Column, Table } from "../../../pages/components/table";
import { amount, exactTimeText } from "../../../pages/format";
import { EVENT_NAMES } from "../../messages/apps";
import { DELIVERY_HINTS, replay, story as text } from "../../messages/rewards";
import { withVerification } from "../../../pages/passkeys";
import { may, session } from "../../session";
import type { CallbackTry, RewardCallback } from "../../types";
import { Exact } from "../../../pages/components/sent-request";
import { Delivery } from "./columns";

interface Props {
  appId: string;
  callback: RewardCallback;
  currency: string;
  reload: () => Promise<void>;
}

export function StoryCallback({ appId, callback, currency, reload }: Props) {
  const { transaction_id: transactionId, event, delivery, attempts, fields, next_try_ts: next } = callback;
  const [isAsking, setAsking] = useState(false);
  const id = useId();
  const role = session.value?.member.role;
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{text.callback(EVENT_NAMES[event])}</h2>
        <Delivery delivery={delivery} />
        {role && may(role, "replay") && (
          <div class="card-tools">
            <button type="button" class="button small" onClick={() => setAsking(true)}>
              {replay.one}
            </button>
          </div>
        )}
      </div>
      <div class="card-foot">
        <p class="note">
          {DELIVERY_HINTS[delivery]} {next && text.nextTry(next)}
        </p>
        <p>
          {amount(callback.value)} <bdi>{currency}</bdi>, <code class="mono">{transactionId}</code>
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
          stacks
          name={`${text.callback(EVENT_NAMES[event])}, ${text.tries.toLowerCase()}`}
          columns={columns}
          rows={attempts}
          rowKey={({ at, ms }) => `${at} ${ms}`}
        />
      )}
      {isAsking && (
        <Confirm
          title={replay.oneTitle}
          text={replay.oneText}
          button={replay.one}
          onConfirm={async () => {
            try {
              await withVerification(() => api.replayReward(appId, transactionId));
            } catch (error) {
              throw explained(error);
            }
            setAsking(false);
            say(replay.oneSent);
            await reload();
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}

/** The reasons for which there is nothing to send, in words. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const words = { nothing_to_send: replay.nothingToSend, erased: replay.erased }[error.code];
  return words ? new ApiError(error.status, error.code, words, error.requestId, null) : error;
}

const fieldLines = (fields: NonNullable<RewardCallback["fields"]>) =>
  Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

const columns: Column<CallbackTry>[] = [
  { key: "at", header: text.tryAt, cell: ({ at }) => <span class="no-wrap">{exactTimeText(at)}</span> },
  { key: "ms", header: text.took, isNumber: true, cell: ({ ms }) => text.ms(ms) },
  {
    key: "answer",
    header: text.answer,
    cell: ({ http_status: status, body, error }) => (
      <>
        <span class={`badge ${status !== null && status >= 200 && status < 300 ? "delivered" : "dead"}`}>
          {status === null ? text.noAnswer : `HTTP ${status}`}
        </span>
        {(body ?? error) !== undefined && (
          <code class="answer-text">{body || error || text.emptyAnswer}</code>
        )}
      </>
    ),
  },
];
