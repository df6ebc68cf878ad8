// A request byte for byte, with the text that is signed; and an answer to it.

import { count } from "../format";
import { sentRequest as text } from "../messages/sent-request";
import type { CallbackAnswer, TestRequest } from "../types";
import { CopyButton } from "./copy-button";

/** Text that may be long, in lines of its own. */
export function Exact({ label, value, isOpen = true }: { label: string; value: string; isOpen?: boolean }) {
  return (
    <details class="exact" open={isOpen}>
      <summary>{label}</summary>
      <div class="exact-text">
        <code>{value || text.empty}</code>
        {value && <CopyButton class="button small" text={() => value} />}
      </div>
    </details>
  );
}

export function SentRequest({ request }: { request: TestRequest }) {
  const headers = Object.entries(request.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
  return (
    <>
      <Exact label={text.url} value={`${request.method} ${request.url}`} />
      {request.body !== null && <Exact label={text.body} value={request.body} />}
      <Exact label={text.headers} value={headers} isOpen={false} />
      {request.signed_content.map(({ signature, content }) => (
        <Exact key={signature} label={text.signed(signature)} value={content} isOpen={false} />
      ))}
    </>
  );
}

export function Answer({ test }: { test: { response: CallbackAnswer | null } }) {
  const { response } = test;
  // The diagnosis says why there is no response.
  if (!response) return <p>{text.noAnswer}</p>;
  return (
    <>
      {response.location !== null && <Exact label={text.location} value={response.location} />}
      <Exact label={text.answer(response.http_status, count(response.ms))} value={response.body} />
    </>
  );
}
