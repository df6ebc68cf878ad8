// The Worker's entry. A click and a page of offers first take the express way, one call into WebAssembly (src/edge/express);
// everything else, and whatever is in any way unusual, goes to the module's own handler.
//
// A plain object, since a class that extends WorkerEntrypoint costs a tenth of the clicks a second. The module's default
// export is such a class, and holds what the module exports as functions on its prototype.
import Module from "./index.js";
export * from "./index.js";

const { fetch: ordinary, redirect, page } = Module.prototype;

// Only a body of known and moderate length may be read before it is known what becomes of it.
const OFFERS = "/v1/offer/api";
const LONGEST_BODY = 65_536;

export default {
  fetch(request, env, ctx) {
    if (request.method === "GET") {
      const location = redirected(request, env);
      if (location !== undefined) {
        return new Response(null, {
          status: 302,
          headers: { Location: location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
        });
      }
    } else if (request.method === "POST" && request.url.endsWith(OFFERS)) {
      const length = request.headers.get("Content-Length");
      if (length !== null && Number(length) <= LONGEST_BODY) {
        return offers(request, env, ctx);
      }
    }
    return ordinary.call({ env, ctx }, request);
  },
};

function redirected(request, env) {
  const { url, headers } = request;
  const header = (name) => headers.get(name) ?? "";
  // `cf` is parsed for each request that reads it: a local run, which trusts the header, need not.
  const country = (env.TRUST_COUNTRY_HEADER === "true" && header("CF-IPCountry")) || (request.cf?.country ?? "");
  try {
    // In the order of `Asked` in express/click.rs.
    return redirect(
      `${country}\n${header("Purpose")}\n${header("Sec-Purpose")}\n${header("User-Agent")}\n${url}`,
      Date.now(),
    );
  } catch (error) {
    panicked(error);
  }
}

async function offers(request, env, ctx) {
  const { url, headers } = request;
  const header = (name) => headers.get(name) ?? "";
  const body = new Uint8Array(await request.arrayBuffer());
  let found;
  try {
    // In the order of `Asked` in express/offers.rs.
    found = page(`${header("Content-Type")}\n${header("App-Id")}\n${header("Pub-Key")}\n${url}`, body, Date.now());
  } catch (error) {
    panicked(error);
  }
  if (found === undefined) {
    // The body is used up, so the ordinary way is given a request of its own.
    return ordinary.call({ env, ctx }, new Request(url, { method: "POST", headers, body }));
  }
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

// The ordinary way answers such a request, with a 500 if it panics as well.
function panicked(error) {
  console.error(`express way: ${error}`);
}
