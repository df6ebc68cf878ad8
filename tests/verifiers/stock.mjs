// The stock Standard Webhooks library of npm, asked of each case on the input, as the verifiers in fixtures/ are.

import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, id, timestamp, signature, payload } = JSON.parse(line);
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  try {
    // A GET's query is no JSON.
    new Webhook(secret).verify(payload, headers, { jsonParse: false });
    console.log("ok");
  } catch {
    console.log("bad");
  }
}
