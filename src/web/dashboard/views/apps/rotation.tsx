// A new callback secret, step by step. Two tests must pass before the former secret is ended: the new secret alone is
// accepted, and a wrong signature is not.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { post, remove } from "../../api";
import { confirmed } from "../../../shared/change";
import { PrimaryButton, PrimaryRun, RunButton } from "../../../shared/components/button";
import { CopyField } from "../../../shared/components/copy-button";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { Check } from "../../../shared/components/icons";
import { FormError } from "../../../shared/components/states";
import { common, overview } from "../../messages";
import { appForm } from "../../messages/apps";
import { rotation as text } from "../../messages/tester";
import type { App, CallbackTest } from "../../types";
import { TestResult } from "./tester";

type Step = "make" | "teach" | "accepts" | "refuses" | "end";
const STEPS: Step[] = ["make", "teach", "accepts", "refuses", "end"];

/** The finding with which each test passes. A 404 or a failed connection is no proof, because every call would fail. */
const PASSES = { accepts: "accepted", refuses: "wrong_signature_refused" };

export function Rotation({ app, reload, onClose }: { app: App; reload: () => Promise<unknown>; onClose: () => void }) {
  // A rotation that was left unfinished resumes at its tests.
  const [step, setStep] = useState<Step>(app.callback!.has_previous_secret ? "accepts" : "make");
  const [secret, setSecret] = useState<string | null>(null);
  const [result, setResult] = useState<CallbackTest | null>(null);
  const { app_id } = app;
  const go = (next: Step) => {
    setResult(null);
    setStep(next);
  };
  // The button that led here has disappeared, so the focus moves to the task of this step.
  const task = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => task.current!.focus(), [step]);
  const make = useAction(async () => {
    const made = await post("/apps/{app_id}/callback/secret", { app_id });
    setSecret(made.secret);
    go("teach");
    void reload();
  });
  const test = useAction(async () => {
    make.clear();
    setResult(null);
    const sign_with = step === "accepts" ? "current" : "wrong";
    setResult(await post("/apps/{app_id}/callback/test", { app_id }, { sign_with }));
  });
  const end = useAction(() => {
    const call = () => remove("/apps/{app_id}/callback/previous_secret", { app_id });
    return confirmed(call, appForm.callback.formerEnded, reload)(onClose);
  });
  const action = step === "end" ? end : step === "make" || make.error ? make : test;
  const isTest = step === "accepts" || step === "refuses";
  const isPassed = isTest && result?.findings.some(({ code }) => code === PASSES[step]) === true;
  const next = STEPS[STEPS.indexOf(step) + 1]!;
  return (
    <Dialog title={text.title} onClose={onClose} isWide keepOpen>
      <ol class="steps wizard">
        {STEPS.map((name, index) => {
          const isDone = index < STEPS.indexOf(step);
          return (
            <li key={name} class={isDone ? "done" : "open"} aria-current={name === step ? "step" : undefined}>
              <span class="step-mark">{isDone ? <Check /> : index + 1}</span> {text.steps[name]}
              <span class="visually-hidden">, {isDone ? overview.stepDone : overview.stepOpen}</span>
            </li>
          );
        })}
      </ol>
      <p ref={task} tabIndex={-1}>
        {text.texts[step]}
      </p>
      {step === "teach" && secret && <CopyField label={text.secret} value={secret} />}
      <FormError error={action.error} />
      {isTest && result && (
        <>
          <p class={`verdict ${isPassed ? "passed" : "failed-text"}`} role="status">
            {isPassed ? text.passed[step] : text.failed[step]}
          </p>
          <TestResult result={result} />
        </>
      )}
      <DialogButtons onClose={onClose} cancel={step === "make" ? common.cancel : text.later}>
        {step === "accepts" && !isPassed && (
          // The former secret signs until it is ended, however many new ones are made.
          <RunButton of={make}>{text.makeAnother}</RunButton>
        )}
        {isTest && (
          <RunButton of={test} class={isPassed ? "button" : "button primary"}>
            {test.isRunning ? text.testing : result ? text.again : text.test}
          </RunButton>
        )}
        {step === "make" && <PrimaryRun of={make}>{text.make}</PrimaryRun>}
        {(step === "teach" || (isTest && isPassed)) && (
          <PrimaryButton onClick={() => go(next)}>{step === "teach" ? text.taught : text.next}</PrimaryButton>
        )}
        {step === "end" && (
          <RunButton of={end} class="button danger">
            {appForm.callback.endFormer}
          </RunButton>
        )}
      </DialogButtons>
    </Dialog>
  );
}
