// The floor of a click: a Worker that reads the inputs of a click as src/edge/entry.js does, writes the same headers,
// and decides nothing. No Worker that does a click's work can be cheaper.
export default {
  fetch(request, env) {
    const { url, headers } = request;
    const header = (name) => headers.get(name) ?? "";
    const country = (env.TRUST_COUNTRY_HEADER === "true" && header("CF-IPCountry")) || (request.cf?.country ?? "");
    const purposes = `${header("Purpose")} ${header("Sec-Purpose")} ${header("X-Purpose")} ${header("X-Moz")}`;
    const parts = `${country}\n${purposes}\n${header("User-Agent")}\n${url}`;
    // The location depends on everything that was read, so that V8 can leave out no read.
    const location = parts.length + Date.now() > 0 ? env.LOCATION : url;
    return new Response(null, {
      status: 302,
      headers: { Location: location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
    });
  },
};
