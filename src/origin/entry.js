// The origin Worker's entry: exports the request handler and the Durable Objects.
import { copyPage, endAbandoned } from "./copy.js";
import * as rust from "./index.js";
import { giveUp, isLoading, loadPage, startLoaded } from "./load.js";
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

// Returns the id of WebAssembly's instance. After an abort, such as a stack overflow, the next call, including this one,
// makes a new instance with empty memory.
const instanceId = () => rust.__worker_init_state().instanceId;

// Point-in-time recovery, which Cloudflare has and plain workerd lacks (src/contract/recovery.rs). It is carried out here, so that
// an object can go back even if its own code or data is broken.
const RECOVERY = "https://object/recovery";

// The objects that must end before they are put back.
const goBack = new WeakSet();

async function recover(state, request) {
  const { find_bookmark, schedule, restart, wake } = await request.json();
  const { storage } = state;
  const bookmark = (found) => found.then((bookmark) => ({ bookmark }));
  try {
    // A process that is woken before it has ended would go on until the runtime ends it, and its writes would be lost.
    if (restart || (wake && goBack.has(state))) state.abort("the object is put back");
    if (wake) await storage.setAlarm(Date.now());
    if (find_bookmark) return Response.json(await bookmark(storage.getBookmarkForTime(find_bookmark.at_ms)));
    if (schedule) {
      goBack.add(state);
      return Response.json(await bookmark(storage.onNextSessionRestoreBookmark(schedule.bookmark)));
    }
    return Response.json({});
  } catch (error) {
    return Response.json({ problem: String(error.message) });
  }
}

// A page of a copy of the object's database (src/contract/recovery.rs), even if the object's own code is broken.
const COPY = "https://object/copy";
// A page of a copy to load, the start of the loaded object, and the end of a load.
const LOAD = "https://object/load?";
const START = "https://object/start?";
const GIVE_UP = "https://object/give_up";
const LOADING = { code: "unavailable", error: "the object's copy is being loaded" };

async function load({ storage, id: { name = "" } }, request, hasRun) {
  if (request.url === GIVE_UP) return giveUp(storage);
  const { searchParams } = new URL(request.url);
  const [id, cursor] = [searchParams.get("id"), searchParams.get("cursor") ?? ""];
  if (request.url.startsWith(START)) return startLoaded(storage, id, name);
  return loadPage(storage, { id, cursor, text: await request.text(), hasRun });
}

// A Durable Object around its Rust struct. The struct is constructed again for a new WebAssembly instance, because the old
// struct points into memory that no longer exists.
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
      this.recover = (request) => recover(state, request);
      // A copy may have begun before this process.
      let mayBeCopied = true;
      this.copy = async (request) => {
        const cursor = await request.text();
        mayBeCopied = true;
        return copyPage(state.storage, cursor);
      };
      this.endAbandoned = () => {
        if (mayBeCopied) mayBeCopied = endAbandoned(state.storage);
      };
      // Whether a copy is being loaded, once that is known, and whether the object has run in this process.
      let isBeingLoaded;
      let hasRun = false;
      this.mayRun = () => {
        isBeingLoaded ??= isLoading(state.storage);
        hasRun ||= !isBeingLoaded;
        return !isBeingLoaded;
      };
      this.load = async (request) => {
        const answer = await load(state, request, () => hasRun);
        isBeingLoaded = undefined;
        return answer;
      };
    }
    fetch(request) {
      if (request.url === RECOVERY) return this.recover(request);
      if ([LOAD, START, GIVE_UP].some((call) => request.url.startsWith(call))) return this.load(request);
      if (!this.mayRun()) return Response.json(LOADING, { status: 503, headers: { "retry-after": "5" } });
      if (request.url === COPY) return this.copy(request);
      return this.struct().fetch(request);
    }
    alarm(info) {
      try {
        if (!this.mayRun()) return;
        this.endAbandoned();
      } catch (error) {
        // The object's own alarm must run: no other call sets it again.
        const what = `a copy could not be checked: ${error.message}`;
        console.error(JSON.stringify({ ts: Date.now(), level: "error", event: "fault", where: "copy", what }));
      }
      return this.struct().alarm(info);
    }
  };
}
