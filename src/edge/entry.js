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

export default {
  fetch(request, env, ctx) {
    if (request.method === "GET") {
      const answer = redirected(request, env);
      if (answer !== undefined) {
        return answer;
      }
    } else if (request.method === "POST" && isForOffers(request)) {
      return offers(request, env, ctx);
    }
    return seenThrough(request, env, ctx);
  },
};

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
