// The origin Worker's entry: exports the module's handler and the Durable Objects.
//
// waitUntil keeps a request running after its client has disconnected. Otherwise the runtime drops it without notifying
// WebAssembly, and its memory and permits are never released.
import Module from "./index.js";
import pages from "./pages.js";
export * from "./index.js";

// Read in src/origin/site/pages.rs. They stay in JavaScript, outside WebAssembly's memory, which never shrinks.
globalThis.signpostPages = pages;

const { fetch: handler } = Module.prototype;

export default {
  fetch(request, env, ctx) {
    const response = handler.call({ env, ctx }, request);
    ctx.waitUntil(response);
    return response;
  },
};
