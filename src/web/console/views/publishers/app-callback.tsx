// The state of an app's callback, with a test, and a button that enables it again after the receiver told us to stop.

import { useState } from "preact/hooks";
import { put, useCached } from "../../../shared/cache";
import { confirmed } from "../../../shared/change";
import { Button, PrimaryButton } from "../../../shared/components/button";
import { useQuestion } from "../../../shared/components/form-dialog";
import { Loaded } from "../../../shared/components/loaded";
import { Card } from "../../../shared/components/part";
import { Answer, SentRequest } from "../../../shared/components/sent-request";
import { Skeleton } from "../../../shared/components/states";
import { tell } from "../../../shared/components/status";
import { count } from "../../../shared/format";
import { CallbackBadge } from "../../../shared/rewards/activity";
import type { CallbackHealth, CallbackTest, KeptApp } from "../../../shared/generated/openapi";
import { get, post } from "../../api";
import { common } from "../../messages";
import { callback as text } from "../../messages/apps";
import { endpoints } from "../../messages/publishers";
import { may } from "../../session";
import { hostOf } from "./apps";

export function AppCallback({ app }: { app: KeptApp }) {
  const { app_id } = app;
  const key = `callback ${app_id}`;
  const health = useCached(key, () => get("/apps/{app_id}/callback", { app_id }));
  const [result, setResult] = useState<CallbackTest | null>(null);
  const questions = {
    enable: () => ({
      title: text.enableTitle,
      text: text.enableText,
      button: text.enable,
      onConfirm: confirmed(
        async () => put(key, await post("/apps/{app_id}/callback/enable", { app_id })),
        text.enabled,
      ),
    }),
    test: () => ({
      title: text.testTitle,
      text: text.testText(hostOf(app.callback!.url)),
      button: text.sendIt,
      onConfirm: async (close: () => void) => {
        // Clear the last result, so that nobody mistakes it for the new one.
        setResult(null);
        setResult(await post("/apps/{app_id}/callback_test", { app_id }));
        tell(text.sent);
        close();
      },
    }),
  };
  const [ask, question] = useQuestion((name: keyof typeof questions) => questions[name]());
  return (
    <Card title={text.title}>
      <Loaded of={health} loading={<Skeleton lines={3} />} isCompact>
        {(known) => <Health health={known} />}
      </Loaded>
      {may("manage") && app.callback && (
        <div class="row part-buttons">
          {health.data?.state === "disabled" && (
            <PrimaryButton onClick={() => ask("enable")}>{text.enable}</PrimaryButton>
          )}
          <Button onClick={() => ask("test")}>{text.test}</Button>
        </div>
      )}
      {result && <Result result={result} />}
      {question}
    </Card>
  );
}

function Health({ health }: { health: CallbackHealth }) {
  const { state, consecutive_failures: failures, next_try_ts: next, waiting, dead, reserving } = health;
  const rows: [string, string][] = [
    [text.waiting, count(waiting)],
    [text.dead, count(dead)],
    [text.reserving, count(reserving)],
    [text.failures, count(failures)],
  ];
  return (
    <>
      <p>
        <CallbackBadge state={state} /> {endpoints.hints[state]} {next !== null && text.next(next)}
      </p>
      <dl class="tiles even">
        {rows.map(([name, value]) => (
          <div class="tile" key={name}>
            <dt>{name}</dt>
            <dd class="tile-value">{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Result({ result }: { result: CallbackTest }) {
  const { response, error } = result;
  const isAccepted = response !== null && response.http_status >= 200 && response.http_status < 300;
  const verdict =
    response === null
      ? text.noAnswer(error ?? common.none)
      : isAccepted
        ? text.accepted(response.http_status)
        : text.refused(response.http_status);
  return (
    <div class="test-result" role="region" aria-label={text.result}>
      <p class={`verdict ${isAccepted ? "passed" : "failed-text"}`}>{verdict}</p>
      {response && <Answer test={result} />}
      <SentRequest request={result.request} />
    </div>
  );
}
