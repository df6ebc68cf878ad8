// The Worker's entry. A click and a page of offers first take the express way, one call into WebAssembly (src/edge/express);
// everything else, and whatever is in any way unusual, goes to the module's own handler, the ordinary way.
//
// A plain object, since a class that extends WorkerEntrypoint costs a tenth of the clicks a second. The module's default
// export is such a class, and holds what the module exports as functions on its prototype.
import Module from "./index.js";
export * from "./index.js";

const { fetch: ordinary, redirect, page, fault } = Module.prototype;

// Only a body of known and moderate length is read before it is known whose it is: a filter of some hundred values. What
// a stranger sends but slowly is held until it ends, on each connection that it opens.
const OFFERS = "/v1/offer/api";
const LONGEST_BODY = 8_192;

// workerd looks at its sockets and its timers once it has nothing else to do. A connection whose next request is there by the
// time its last one is answered, as under too much load or when a client sends many without waiting, gives it something else
// to do: some such connections shut out all others, every timer and every callback for as long as they like. So once this
// many requests have begun and no timer has gone off, whoever comes waits for one of his own; half as many set the first.
const AT_A_TIME = 32;
// It looks at sixteen sockets, and goes on with what they brought. Where this many have come to wait, they let it look on for
// a share of the time that the last turn took, so that those come in who were not looked at before.
const CROWD = 128;
const LOOKING_SHARE = 0.25;
const LOOKING_MS = 250;

let begun = 0;
let begunAt = 0;
let turn = 0;
let lookingUntil = 0;

export default {
  fetch(request, env, ctx) {
    begun += 1;
    if (begun === AT_A_TIME / 2) {
      begunAt = Date.now();
      ctx.waitUntil(untilLooked());
    }
    if (begun > AT_A_TIME || Date.now() < lookingUntil) {
      const answer = inTurn(request, env, ctx);
      // Whoever leaves before its turn has sent its request all the same.
      ctx.waitUntil(answer);
      return answer;
    }
    return answered(request, env, ctx);
  },
};

async function inTurn(request, env, ctx) {
  if (begun > AT_A_TIME) {
    await untilLooked();
  }
  const left = lookingUntil - Date.now();
  if (left > 0) {
    await scheduler.wait(Math.min(left, LOOKING_MS));
  }
  return answered(request, env, ctx);
}

// Of those whose timers go off together, the first begins the next turn for all.
async function untilLooked() {
  const own = turn;
  await scheduler.wait(0);
  if (turn === own) {
    const now = Date.now();
    if (begun > AT_A_TIME + CROWD) {
      lookingUntil = now + Math.min((now - begunAt) * LOOKING_SHARE, LOOKING_MS);
    } else if (lookingUntil > now + LOOKING_MS) {
      // The clock was set back.
      lookingUntil = now;
    }
    turn += 1;
    begun = 0;
  }
}

function answered(request, env, ctx) {
  if (request.method === "GET") {
    const answer = redirected(request, env);
    if (answer !== undefined) {
      return answer;
    }
  } else if (request.method === "POST" && isForOffers(request)) {
    return offers(request, env, ctx);
  }
  return seenThrough(request, env, ctx);
}

// Also when the client is gone: the runtime would let go of the request without a word to WebAssembly, where the memory
// that it holds and its place among those under way would never be free again.
function seenThrough(request, env, ctx) {
  const answer = ordinary.call({ env, ctx }, request);
  ctx.waitUntil(answer);
  return answer;
}

function redirected(request, env) {
  const { url, headers } = request;
  const header = (name) => headers.get(name) ?? "";
  // `cf` is parsed for each request that reads it: a local run, which trusts the header, need not.
  const country = (env.TRUST_COUNTRY_HEADER === "true" && header("CF-IPCountry")) || (request.cf?.country ?? "");
  try {
    // In the order of `Asked` in express/click.rs.
    const location = redirect(
      `${country}\n${header("Purpose")}\n${header("Sec-Purpose")}\n${header("User-Agent")}\n${url}`,
      Date.now(),
    );
    if (location !== undefined) {
      return new Response(null, {
        status: 302,
        headers: { Location: location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
      });
    }
  } catch (error) {
    failed(error);
  }
}

// A length beside `Transfer-Encoding` says nothing: the body has as many chunks as its sender likes.
function isForOffers({ url, headers }) {
  const length = headers.get("Content-Length");
  return (
    url.endsWith(OFFERS) &&
    !url.includes("?") &&
    length !== null &&
    Number(length) <= LONGEST_BODY &&
    !headers.has("Transfer-Encoding")
  );
}

async function offers(request, env, ctx) {
  const { url, headers } = request;
  const header = (name) => headers.get(name) ?? "";
  let body;
  try {
    body = new Uint8Array(await request.arrayBuffer());
  } catch {
    // It ended early, which the ordinary way tells.
    return seenThrough(request, env, ctx);
  }
  // In the order of `Asked` in express/offers.rs.
  const asked = `${header("Content-Type")}\n${header("App-Id")}\n${header("Pub-Key")}\n${url}`;
  const found = attempt(() => page(asked, body, Date.now()));
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
  // The body is used up, so the ordinary way is given the same request with what was read.
  return seenThrough(new Request(request, { body }), env, ctx);
}

// A panic is one request's: the ordinary way answers it, with a 500 if it panics as well.
function attempt(express) {
  try {
    return express();
  } catch (error) {
    failed(error);
  }
}

function failed(error) {
  fault(`${error}`);
}
