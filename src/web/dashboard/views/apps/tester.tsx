// Sends a test to the saved callback, and says in words what came back.

import { useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { post } from "../../api";
import { PrimaryRun } from "../../../shared/components/button";
import { Choices } from "../../../shared/components/choices";
import { FormError } from "../../../shared/components/states";
import { tell } from "../../../shared/components/status";
import { settings } from "../../../shared/messages/settings";
import { tester as text } from "../../messages/tester";
import type { App, CallbackTest, SignWith } from "../../types";
import { Findings } from "./findings";
import { Card } from "./part";
import { Answer, SentRequest } from "../../../shared/components/sent-request";

export function Tester({ app }: { app: App }) {
  const isRotating = app.callback!.has_previous_secret;
  const [chosen, setChosen] = useState<SignWith>("both");
  const [result, setResult] = useState<CallbackTest | null>(null);
  const options: SignWith[] = isRotating ? ["both", "current", "wrong"] : ["both", "wrong"];
  const signWith = options.includes(chosen) ? chosen : "both";
  const send = useAction(async () => {
    // Clear the last result, so that nobody mistakes it for the new one.
    setResult(null);
    setResult(await post("/apps/{app_id}/callback/test", { app_id: app.app_id }, { sign_with: signWith }));
    tell(text.sent);
  });
  return (
    <Card title={text.title} intro={text.intro}>
      <Choices
        kind="radio"
        name={text.signWith}
        choices={options.map((value) => ({
          value,
          label: value === "both" && !isRotating ? text.asUsual : text.signs[value],
          hint: text.signHints[value],
        }))}
        chosen={[signWith]}
        onChange={([value]) => setChosen(value!)}
      />
      <FormError error={send.error} />
      <div class="row part-buttons">
        <PrimaryRun of={send}>{send.isRunning ? text.sending : text.send}</PrimaryRun>
        <p class="note">{settings.confirm}</p>
      </div>
      {result && <TestResult result={result} />}
    </Card>
  );
}

export function TestResult({ result }: { result: CallbackTest }) {
  return (
    <div class="test-result" role="region" aria-label={text.result}>
      <Findings findings={result.findings} />
      <Answer test={result} />
      <SentRequest request={result.request} />
    </div>
  );
}
