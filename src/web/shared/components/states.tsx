// States of a part that has no data to show, or old data: loading, empty, stale, refused, failed.

import { accountName } from "#session";
import type { ComponentChildren } from "preact";
import type { ApiError } from "../client";
import type { Cached } from "../cache";
import { errorText, requestIdOf, sentence } from "../error-text";
import { clockText } from "../format";
import { common, errors } from "../messages";
import type { Refusal } from "../types";
import { Button, SmallButton } from "./button";
import { Warning } from "./icons";

/** Grey lines in the place of what is coming, so that nothing moves when it arrives. */
export function Skeleton({ lines = 1, class: name = "" }: { lines?: number; class?: string }) {
  return (
    <div class={`skeleton ${name}`} aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}

interface MessageProps {
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}

export function Empty({ title, children, action }: MessageProps) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

export function Refused() {
  return <Empty title={errors.roleTitle}>{errors.role(accountName() ?? "your account")}</Empty>;
}

export function Failed({ error, retry, compact }: { error: ApiError; retry?: () => void; compact?: boolean }) {
  if (error.code === "role_forbids") return <Refused />;
  const requestId = requestIdOf(error);
  return (
    <div class={compact ? "state failed compact" : "state failed"} role="alert">
      <h2>
        <Warning /> {errors.title}
      </h2>
      <p>
        {errorText(error)} {requestId && error.status >= 500 && error.status !== 503 && errors.giveRequestId}
      </p>
      {requestId && <p class="request-id">{common.requestId(requestId)}</p>}
      {retry && <Button onClick={retry}>{common.retry}</Button>}
    </div>
  );
}

/**
 * One part of an answer that failed while the others did not. The request itself succeeded, so no request ID is shown.
 */
export function PartFailed({ part, retry }: { part: Refusal; retry?: () => void }) {
  return (
    <div class="state failed compact" role="alert">
      <h3>
        <Warning /> {errors.part}
      </h3>
      <p>{sentence(part.error)}</p>
      {retry && <Button onClick={retry}>{common.retry}</Button>}
    </div>
  );
}

/** A note above data whose refresh failed. */
export function Stale({ of, retry }: { of: Cached<unknown>; retry: () => void }) {
  if (!of.data || !of.error) return null;
  const requestId = requestIdOf(of.error);
  return (
    <Banner onClick={retry}>
      {common.stale(clockText(of.at))} {errorText(of.error)}{" "}
      {requestId && <span class="request-id">{common.requestId(requestId)}</span>}
    </Banner>
  );
}

interface ProblemProps {
  id?: string;
  children: ComponentChildren;
}

/** A problem of a form or a field. Draws nothing if there is none. */
export const Problem = ({ id, children }: ProblemProps) =>
  children ? (
    <p class="form-error" id={id} role="alert">
      {children}
    </p>
  ) : null;

/** An error of a form, next to its button. */
export function FormError({ error }: { error: unknown }) {
  // The sign-in view already reports an ended session.
  if (!error || (error as ApiError).code === "not_signed_in") return null;
  const requestId = requestIdOf(error);
  return (
    <Problem>
      {errorText(error)} {requestId && <span class="request-id">{common.requestId(requestId)}</span>}
    </Problem>
  );
}

/** A note next to the data. Screen readers read it aloud when it appears. */
export const SaidNote = ({ children }: { children: ComponentChildren }) => (
  <p class="note" role="status">
    {children}
  </p>
);

interface BannerProps {
  role?: "status" | "alert";
  /** Tries again. */
  onClick?: () => void;
  children: ComponentChildren;
}

export const Banner = ({ role = "status", onClick, children }: BannerProps) => (
  <div class="banner warning" role={role}>
    <Warning />
    <p>{children}</p>
    {onClick && <SmallButton onClick={onClick}>{common.retry}</SmallButton>}
  </div>
);
