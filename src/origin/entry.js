// The origin Worker's entry: the module's own handler, and the Durable Objects.
//
// waitUntil keeps a request alive whose client has left: otherwise the runtime abandons it without a word to WebAssembly, where
// its memory and its permits would never be free again.
import Module from "./index.js";
export * from "./index.js";

const { fetch: handler } = Module.prototype;

export default {
  fetch(request, env, ctx) {
    const response = handler.call({ env, ctx }, request);
    ctx.waitUntil(response);
    return response;
  },
};
