// The constant Worker: reads the request's body and always answers the same bytes and headers.
import { env } from "cloudflare:workers";
const { body, headers } = JSON.parse(env.ANSWER);
export default {
  async fetch(request) {
    await request.text();
    return new Response(body, { headers });
  },
};
