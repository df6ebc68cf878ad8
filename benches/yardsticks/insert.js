// The bare object: one INSERT for each request, answered when it is on disk, behind a Worker that forwards requests.
import { DurableObject } from "cloudflare:workers";

export class Bare extends DurableObject {
  constructor(state, env) {
    super(state, env);
    this.sql = state.storage.sql;
    this.sql.exec("CREATE TABLE IF NOT EXISTS conversions (id INTEGER PRIMARY KEY, at INTEGER, query TEXT) STRICT");
  }

  fetch(request) {
    const query = request.url.slice(request.url.indexOf("?") + 1);
    this.sql.exec("INSERT INTO conversions (at, query) VALUES (?, ?)", Date.now(), query);
    return new Response("inserted\n");
  }
}

export default {
  fetch: (request, env) => env.BARE.getByName("one").fetch(request),
};
