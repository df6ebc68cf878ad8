// The edge Worker's entry. A click or a page of offers first takes the fast path, a synchronous call into WebAssembly
// (src/edge/fast_path.rs). Other requests, and those that must wait, take the ordinary path, the module's own handler.
//
// The export is a plain object, since a class that extends WorkerEntrypoint serves 10 % fewer clicks per second.
import { fairQueue } from "./fair_queue.js";
import * as rust from "./index.js";

// `fault` logs and counts an exception of the fast path.
const { fetch: ordinary, redirect, take_tasks, run_task, list_missing, adopt, page, fault } = rust;

const CLICK = "/v2/tracking/click";
const OFFERS = "/v1/offer/api";
// Maximum bytes of a body that is read before authentication: enough for a filter of a few hundred values. The length
// must be announced, since an unknown sender could otherwise keep a body of any size open on each connection.
const MAX_BODY = 8_192;
// Maximum clicks that read KV here at a time, and the timeout of each click. A cold click reads up to 150 KiB. Further
// clicks take the ordinary path, where requests share their loads.
const MAX_COLD_CLICKS = 8;
const KV_TIMEOUT_MS = 1_000;
let coldClicks = 0;

export default {
  fetch(request, env, ctx) {
    return env.FAIR_QUEUE === "true" ? fairQueue(request, env, ctx, answer) : answer(request, env, ctx);
  },
};

function answer(request, env, ctx) {
  if (request.method === "GET" && request.url.includes(CLICK)) {
    return click(request, env, ctx);
  }
  if (request.method === "POST" && mayBeFast(request)) {
    return fastOffers(request, env, ctx);
  }
  return ordinaryPath(request, env, ctx);
}

// waitUntil keeps a request alive after its client has left. Otherwise the runtime abandons the request without telling
// WebAssembly, where the request's memory and permits would never be freed.
function ordinaryPath(request, env, ctx) {
  const response = ordinary(request, env, ctx);
  ctx.waitUntil(response);
  return response;
}

function click(request, env, ctx) {
  const { url, headers } = request;
  const header = (name) => headers.get(name) ?? "";
  // Reading `cf` makes the runtime parse it, so a local run, which trusts the header, does not read it.
  const country = (env.TRUST_COUNTRY_HEADER === "true" && header("CF-IPCountry")) || (request.cf?.country ?? "");
  // The same headers as `PURPOSES` in user_agent.rs, in the same order.
  const purposes = `${header("Purpose")} ${header("Sec-Purpose")} ${header("X-Purpose")} ${header("X-Moz")}`;
  // In the order of `redirect` in fast_path/click.rs.
  const parts = `${country}\n${purposes}\n${header("User-Agent")}\n${url}`;
  const response = fastClick(parts, env, ctx);
  if (response !== undefined) {
    return response;
  }
  const missing = coldClicks < MAX_COLD_CLICKS ? caught(() => list_missing(env, parts)) : undefined;
  if (missing === undefined) {
    return ordinaryPath(request, env, ctx);
  }
  const redirected = coldClick(request, env, ctx, parts, missing);
  ctx.waitUntil(redirected);
  return redirected;
}

function fastClick(parts, env, ctx) {
  const location = caught(() => redirect(parts, Date.now()));
  if (location === undefined) {
    return undefined;
  }
  const tasks = take_tasks();
  for (let at = 0; tasks !== undefined && at < tasks.length; at += 2) {
    ctx.waitUntil(runLater(env, tasks[at], tasks[at + 1]));
  }
  return new Response(null, {
    status: 302,
    headers: { Location: location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
}

async function runLater(env, ms, task) {
  if (ms > 0) {
    await scheduler.wait(ms);
  }
  await run_task(env, task);
}

// Answers a click for which the isolate lacks values from KV: first the pointer, then the shards that it names.
async function coldClick(request, env, ctx, parts, missing) {
  coldClicks += 1;
  try {
    const timeout = scheduler.wait(KV_TIMEOUT_MS);
    let [cacheTtl, ...keys] = missing;
    for (;;) {
      const askedAt = Date.now();
      const values = await readValues(env, keys, Number(cacheTtl), timeout);
      if (values === undefined) {
        break;
      }
      caught(() => {
        for (const [at, key] of keys.entries()) adopt(parts, key, new Uint8Array(values[at]), askedAt);
      });
      const response = fastClick(parts, env, ctx);
      if (response !== undefined) {
        return response;
      }
      const next = caught(() => list_missing(env, parts));
      // A value that is still missing after it was read is damaged, or is a shard without the click's id.
      if (next === undefined || next.some((key) => keys.includes(key))) {
        break;
      }
      [cacheTtl, ...keys] = next;
    }
  } finally {
    coldClicks -= 1;
  }
  return ordinaryPath(request, env, ctx);
}

// Returns the values of these keys, or `undefined` if a value is missing, late or unreadable. The ordinary path logs
// the reason.
async function readValues(env, keys, cacheTtl, timeout) {
  try {
    const get = (key) => env.SNAPSHOTS.get(key, { type: "arrayBuffer", cacheTtl });
    const values = await Promise.race([Promise.all(keys.map(get)), timeout]);
    return values?.every((value) => value !== null) ? values : undefined;
  } catch {
    return undefined;
  }
}

// With `Transfer-Encoding`, `Content-Length` is not binding: the sender may send any number of chunks. The ordinary
// path refuses an encoded body.
function mayBeFast({ url, headers }) {
  const length = headers.get("Content-Length");
  return (
    url.endsWith(OFFERS) &&
    !url.includes("?") &&
    length !== null &&
    Number(length) <= MAX_BODY &&
    !headers.has("Transfer-Encoding") &&
    !headers.has("Content-Encoding")
  );
}

async function fastOffers(request, env, ctx) {
  const { url, headers } = request;
  const header = (name) => headers.get(name) ?? "";
  let body;
  try {
    body = new Uint8Array(await request.arrayBuffer());
  } catch {
    // The body ended early. The ordinary path answers with the error.
    return ordinaryPath(request, env, ctx);
  }
  // In the order of `page` in fast_path/offers.rs.
  const parts = `${header("Content-Type")}\n${header("App-Id")}\n${header("Pub-Key")}\n${url}`;
  const found = caught(() => page(parts, body, Date.now()));
  if (found !== undefined) {
    const [cacheControl, etag, lastModified, bytes] = found;
    return new Response(bytes, {
      headers: {
        "Content-Type": "application/json",
        "Cache-Control": cacheControl,
        ETag: etag,
        "Last-Modified": lastModified,
        Vary: "App-Id, Pub-Key",
      },
    });
  }
  // The body is consumed, so the ordinary path gets a copy of the request with the bytes that were read.
  return ordinaryPath(new Request(request, { body }), env, ctx);
}

// After a panic the ordinary path answers the request, with 500 if it also panics.
function caught(work) {
  try {
    return work();
  } catch (error) {
    fault(`${error}`);
  }
}
