// An object whose database a test writes and copies. POST /{object}/run runs a list of statements and answers the first
// column of the last one. POST /{object}/copy?bytes= answers a page of its copy. POST /{object}/load?cursor= loads one.
// POST /{object}/end ends a copy as an alarm after so many milliseconds would.
import { DurableObject } from "cloudflare:workers";
import { copyPage, endAbandoned } from "./copy.js";
import { loadPage } from "./load.js";

export class Copied extends DurableObject {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const { storage } = this.ctx;
    const body = await request.text();
    if (pathname.endsWith("/copy")) return copyPage(storage, body, Number(searchParams.get("bytes")));
    if (pathname.endsWith("/load"))
      return loadPage(storage, { id: "1", cursor: searchParams.get("cursor"), text: body, hasRun: () => false });
    if (pathname.endsWith("/end")) {
      endAbandoned(storage, Date.now() + Number(body));
      return new Response();
    }
    let rows = [];
    for (const statement of JSON.parse(body)) rows = storage.sql.exec(statement).raw().toArray();
    return Response.json(rows.flat());
  }
}

export default {
  fetch(request, env) {
    return env.COPIED.getByName(new URL(request.url).pathname.split("/")[1]).fetch(request);
  },
};
