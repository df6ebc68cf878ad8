// The origin Worker's entry: exports the request handler and the Durable Objects.
import * as rust from "./index.js";
import pages from "./pages.js";

// Read in src/origin/http/site/pages.rs. They stay in JavaScript, outside WebAssembly's memory, which never shrinks.
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

// The id of WebAssembly's instance. After an abort, such as a stack overflow, the next call makes a new instance with empty
// memory; this is such a call.
const instanceId = () => rust.__worker_init_state().instanceId;

// A Durable Object around its Rust struct, which is constructed again in a new instance. A struct of an earlier one points
// into memory that is gone.
function object(Struct) {
  return class {
    constructor(state, env) {
      let id;
      let struct;
      this.struct = () => {
        if (id !== instanceId()) {
          id = instanceId();
          struct = new Struct(state, env);
        }
        return struct;
      };
      this.struct();
    }
    fetch(request) {
      return this.struct().fetch(request);
    }
    alarm(info) {
      return this.struct().alarm(info);
    }
  };
}
