// Runs npm's stock Standard Webhooks library on each case of the input, like the verifiers in fixtures/.

import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

for await (const line of createInterface({ input: process.stdin })) {
  const { secret, id, timestamp, signature, payload } = JSON.parse(line);
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  try {
    // The query of a GET is not JSON.
    new Webhook(secret).verify(payload, headers, { jsonParse: false });
    console.log("ok");
  } catch {
    console.log("bad");
  }
}
