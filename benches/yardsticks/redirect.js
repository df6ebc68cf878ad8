// The 3-line Worker: a constant 302, the fastest redirect on this runtime.
import { env } from "cloudflare:workers";
const headers = { Location: env.LOCATION };
export default { fetch: () => new Response(null, { status: 302, headers }) };
