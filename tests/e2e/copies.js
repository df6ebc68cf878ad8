// An object whose database a test writes and copies. POST /{object}/run runs a list of statements and answers the first
// column of the last one. POST /{object}/copy?bytes= answers a page of its copy. POST /{object}/load?cursor= loads one
// of the copy `id`, and with `ran` into an object that has run in its process. POST /{object}/give_up gives a load up.
// POST /{object}/end ends a copy as an alarm after so many milliseconds would. POST /{object}/alarm answers whether the
// alarm has run.
import { DurableObject } from "cloudflare:workers";
import { copyPage, endAbandoned } from "./copy.js";
import { giveUp, loadPage } from "./load.js";

export class Copied extends DurableObject {
  alarm() {
    this.hasRung = true;
  }

  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const { storage } = this.ctx;
    const body = await request.text();
    if (pathname.endsWith("/copy")) return copyPage(storage, body, Number(searchParams.get("bytes")));
    const [id, cursor] = [searchParams.get("id") ?? "1", searchParams.get("cursor")];
    const hasRun = () => searchParams.has("ran");
    if (pathname.endsWith("/load")) return loadPage(storage, { id, cursor, text: body, hasRun });
    if (pathname.endsWith("/give_up")) return giveUp(storage);
    if (pathname.endsWith("/alarm")) return Response.json(this.hasRung === true);
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
