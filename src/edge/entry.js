// The Worker's entry: a click first takes the express way, one call into WebAssembly (src/edge/express.rs); everything
// else, and every click that is in any way unusual, goes to the module's own handler.
//
// A plain object, since a class that extends WorkerEntrypoint costs a tenth of the clicks a second. The module's default
// export is such a class, and holds what the module exports as functions on its prototype.
import Module from "./index.js";
export * from "./index.js";

const { fetch, redirect } = Module.prototype;

export default {
  fetch(request, env, ctx) {
    if (request.method === "GET") {
      const location = express(request, env);
      if (location !== undefined) {
        return new Response(null, {
          status: 302,
          headers: { Location: location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
        });
      }
    }
    return fetch.call({ env, ctx }, request);
  },
};

// What the redirect depends on, in the order of `Asked` in express.rs.
function express(request, env) {
  const { url, headers } = request;
  const header = (name) => headers.get(name) ?? "";
  // `cf` is parsed for each request that reads it: a local run, which trusts the header, need not.
  const country = (env.TRUST_COUNTRY_HEADER === "true" && header("CF-IPCountry")) || (request.cf?.country ?? "");
  try {
    return redirect(
      `${country}\n${header("Purpose")}\n${header("Sec-Purpose")}\n${header("User-Agent")}\n${url}`,
      Date.now(),
    );
  } catch (error) {
    // A panic: the ordinary way answers the request, with a 500 if it panics as well.
    console.error(`express way: ${error}`);
  }
}
