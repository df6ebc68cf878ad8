// The constant-body Worker: reads what it is sent, and answers the same bytes and headers whatever it is.
import { env } from "cloudflare:workers";
const { body, headers } = JSON.parse(env.ANSWER);
export default {
  async fetch(request) {
    await request.text();
    return new Response(body, { headers });
  },
};
