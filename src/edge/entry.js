// The edge Worker's entry. A click or a page of offers first takes the fast path, one call into WebAssembly
// (src/edge/fast_path.rs). Other requests, and those that must wait, take the ordinary path, the module's own handler.
//
// The export is a plain object, since a class that extends WorkerEntrypoint serves 10 % fewer clicks a second. The
// module's default export is such a class, and has the module's exported functions on its prototype.
import Module from "./index.js";
import { fairQueue } from "./fair_queue.js";
export * from "./index.js";

const { fetch: ordinary, redirect, tasks, run_task, missing, adopt, page, fault } = Module.prototype;

const CLICK = "/v2/tracking/click";
const OFFERS = "/v1/offer/api";
// The longest body that is read before authentication, in bytes: enough for a filter of a few hundred values. Its
// length must be known, since an unknown sender could otherwise keep a body of any size open on each connection.
const MAX_BODY = 8_192;
// The most clicks that read KV here at a time, and for how long. A cold click reads up to 150 KiB. Beyond that the
// ordinary path, which shares what it loads, takes the click.
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

// waitUntil keeps a request alive after its client has left. Otherwise the runtime abandons it without notice to
// WebAssembly, where its memory and its permits would never be freed.
function ordinaryPath(request, env, ctx) {
  const response = ordinary.call({ env, ctx }, request);
  ctx.waitUntil(response);
  return response;
}

function click(request, env, ctx) {
  const { url, headers } = request;
  const header = (name) => headers.get(name) ?? "";
  // Reading `cf` parses it, so a local run, which trusts the header, avoids it.
  const country = (env.TRUST_COUNTRY_HEADER === "true" && header("CF-IPCountry")) || (request.cf?.country ?? "");
  // In the order of `FastRequest` in fast_path/click.rs.
  const parts = `${country}\n${header("Purpose")}\n${header("Sec-Purpose")}\n${header("User-Agent")}\n${url}`;
  const response = fastClick(parts, env, ctx);
  if (response !== undefined) {
    return response;
  }
  const lacks = coldClicks < MAX_COLD_CLICKS ? caught(() => missing(env, parts)) : undefined;
  if (lacks === undefined) {
    return ordinaryPath(request, env, ctx);
  }
  const redirected = coldClick(request, env, ctx, parts, lacks);
  ctx.waitUntil(redirected);
  return redirected;
}

function fastClick(parts, env, ctx) {
  const location = caught(() => redirect(parts, Date.now()));
  if (location === undefined) {
    return undefined;
  }
  const left = tasks();
  for (let at = 0; left !== undefined && at < left.length; at += 2) {
    ctx.waitUntil(later(env, left[at], left[at + 1]));
  }
  return new Response(null, {
    status: 302,
    headers: { Location: location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
}

// Runs a task of background.rs after its wait, and after the answer that is on its way.
async function later(env, ms, task) {
  await scheduler.wait(ms);
  await run_task(env, task);
}

// A click for which the isolate lacks values of KV: the pointer, then the shards that it names.
async function coldClick(request, env, ctx, parts, lacks) {
  coldClicks += 1;
  try {
    for (let read = 0; read < 2 && lacks !== undefined; read += 1) {
      const askedAt = Date.now();
      const [cacheTtl, ...keys] = lacks;
      const get = (key) => env.SNAPSHOTS.get(key, { type: "arrayBuffer", cacheTtl: Number(cacheTtl) });
      const late = scheduler.wait(KV_TIMEOUT_MS).then(() => []);
      const values = await Promise.race([Promise.all(keys.map(get)), late]);
      if (!keys.every((_, at) => values[at])) {
        break;
      }
      caught(() => keys.forEach((key, at) => adopt(parts, key, new Uint8Array(values[at]), askedAt)));
      const response = fastClick(parts, env, ctx);
      if (response !== undefined) {
        return response;
      }
      lacks = caught(() => missing(env, parts));
    }
  } catch {
    // KV failed. The ordinary path logs it if it fails there, too.
  } finally {
    coldClicks -= 1;
  }
  return ordinaryPath(request, env, ctx);
}

// With `Transfer-Encoding`, Content-Length is not binding: the sender may send any number of chunks.
function mayBeFast({ url, headers }) {
  const length = headers.get("Content-Length");
  return (
    url.endsWith(OFFERS) &&
    !url.includes("?") &&
    length !== null &&
    Number(length) <= MAX_BODY &&
    !headers.has("Transfer-Encoding")
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
  // In the order of `FastRequest` in fast_path/offers.rs.
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

// After a panic the ordinary path answers the request, with 500 if it panics too.
function caught(fastPath) {
  try {
    return fastPath();
  } catch (error) {
    fault(`${error}`);
  }
}
