// The edge without its fast path: the module's own handler answers every request.
import { fetch } from "./index.js";

export default { fetch: (request, env, ctx) => fetch(request, env, ctx) };
