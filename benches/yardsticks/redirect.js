// The 3-line Worker: a constant 302. Nothing on this runtime is faster.
import { env } from "cloudflare:workers";
const headers = { Location: env.LOCATION };
export default { fetch: () => new Response(null, { status: 302, headers }) };
