// The origin Worker's entry: exports the request handler and the Durable Objects.
import * as rust from "./index.js";
import pages from "./pages.js";

// Read in src/origin/site/pages.rs. They stay in JavaScript, outside WebAssembly's memory, which never shrinks.
globalThis.signpostPages = pages;

export default {
  // waitUntil keeps a request running after its client has disconnected. Otherwise the runtime drops it without notifying
  // WebAssembly, and its memory and permits are never released.
  fetch(request, env, ctx) {
    const response = rust.fetch(request, env, ctx);
    ctx.waitUntil(response);
    return response;
  },
};

export const Accounts = object(rust.Accounts);
export const Activity = object(rust.Activity);
export const Catalog = object(rust.Catalog);
export const Clicks = object(rust.Clicks);
export const Counters = object(rust.Counters);
export const Ledger = object(rust.Ledger);
export const Outbox = object(rust.Outbox);
export const Postbacks = object(rust.Postbacks);

// A Durable Object around its Rust struct. After an abort, such as a stack overflow, WebAssembly starts again with empty
// memory and another instance id, and the struct is constructed again.
function object(Struct) {
  const instance = rust.__worker_init_state();
  return class {
    constructor(state, env) {
      const construct = () => ({ id: instance.instanceId, struct: new Struct(state, env) });
      let current = construct();
      this.struct = () => {
        if (current.id !== instance.instanceId) current = construct();
        return current.struct;
      };
    }
    fetch(request) {
      return this.struct().fetch(request);
    }
    alarm(info) {
      return this.struct().alarm(info);
    }
  };
}
