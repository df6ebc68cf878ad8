// A publisher's receiver of callbacks: it checks signatures as docs/INTEGRATING.md says, by the secrets that it knows.

import { createServer } from "node:http";
import { verify } from "../../../fixtures/verifiers/verify.mjs";

export async function startReceiver() {
  const receiver = { secrets: [], checksSignatures: true, failsWith: null, body: null, calls: [] };
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://receiver");
    const now = Date.now() / 1000;
    const isOurs = receiver.secrets.some((secret) => verify(secret, request.headers, url.search.slice(1), now));
    const status = receiver.failsWith ?? (isOurs || !receiver.checksSignatures ? 200 : 401);
    const isTest = request.headers["webhook-test"] === "true";
    receiver.calls.push({ status, isOurs, isTest, query: Object.fromEntries(url.searchParams) });
    response.writeHead(status).end(receiver.body ?? (status === 200 ? "thank you" : "bad signature"));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${server.address().port}/callback`;
  receiver.stop = () => new Promise((resolve) => server.close(resolve));
  return receiver;
}
