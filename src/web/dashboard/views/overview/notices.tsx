// Notices above the numbers: a recovery, and an approval that is missing.

import { LinkButton } from "../../../shared/components/button";
import { Check, Warning } from "../../../shared/components/icons";
import { common, overview as text } from "../../messages";
import type { Overview } from "../../types";

export function Notices({ notices, contact }: { notices: Overview["notices"]; contact: string | null }) {
  return (
    <>
      {notices.map((notice) => (
        <div class="banner warning" role="status" key={`${notice.kind} ${notice.at}`}>
          <Warning />
          <p>
            {notice.kind === "restored"
              ? text.restored(notice.at)
              : text.recovery(notice.member_name, notice.by, notice.at)}
          </p>
          {contact && (
            <LinkButton class="button small" href={contact}>
              {common.contact}
            </LinkButton>
          )}
        </div>
      ))}
    </>
  );
}

export function Approval({ overview }: { overview: Overview }) {
  const { account, signedIn, approval } = text.steps;
  const steps = [
    { name: account, isDone: true },
    { name: signedIn, isDone: true },
    { name: approval, isDone: false },
  ];
  return (
    <section class="card approval" aria-labelledby="approval-title">
      <h2 id="approval-title">{text.unapprovedTitle(overview.publisher.name)}</h2>
      <p>{text.unapproved}</p>
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.name} class={step.isDone ? "done" : "open"}>
            <span class="step-mark">{step.isDone && <Check />}</span> {step.name}
            <span class="visually-hidden">, {step.isDone ? text.stepDone : text.stepOpen}</span>
          </li>
        ))}
      </ol>
      <p class="note">{text.approvalHint}</p>
      {overview.support_contact && <LinkButton href={overview.support_contact}>{common.contact}</LinkButton>}
    </section>
  );
}
