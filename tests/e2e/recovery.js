// The origin Worker with a stand-in for Cloudflare's point-in-time recovery, which plain workerd lacks. As Cloudflare
// documents it, the object's next start puts the whole storage back, writes before the restart are gone, and a bookmark
// of the previous state undoes it. Here only the states exist that a test keeps, by a GET of /{namespace}/{object} at
// the control socket. The alarm is lost.
import { WorkerEntrypoint } from "cloudflare:workers";
import * as origin from "./entry.js";

export default origin.default;

// By object: its bookmarks, each with its time and its tables.
const kept = new Map();
// By object: what its next start does.
const scheduled = new Map();
const ids = new WeakMap();

const OF_THE_OBJECT = "sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'";

function read({ sql }) {
  const all = (statement) => [...sql.exec(statement).raw()];
  const tables = all(`SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND ${OF_THE_OBJECT}`);
  return {
    tables: tables.map(([name, statement]) => ({ name, statement, rows: all(`SELECT * FROM "${name}"`) })),
    indexes: all(`SELECT sql FROM sqlite_schema WHERE type <> 'table' AND ${OF_THE_OBJECT}`).flat(),
  };
}

function write({ sql }, { tables, indexes }) {
  const names = [...sql.exec(`SELECT name FROM sqlite_schema WHERE type = 'table' AND ${OF_THE_OBJECT}`).raw()].flat();
  for (const name of names) sql.exec(`DROP TABLE "${name}"`);
  for (const { name, statement, rows } of tables) {
    sql.exec(statement);
    for (const row of rows) sql.exec(`INSERT INTO "${name}" VALUES (${row.map(() => "?").join()})`, ...row);
  }
  for (const index of indexes) sql.exec(index);
}

function keep(id, bookmark, storage) {
  if (!kept.has(id)) kept.set(id, []);
  kept.get(id).push({ bookmark, at: Date.now(), content: read(storage) });
}

function find(storage, suits) {
  const found = kept.get(ids.get(storage))?.findLast(suits);
  if (!found) throw new Error("there is no such bookmark");
  return found;
}

function patch(storage) {
  const prototype = Object.getPrototypeOf(storage);
  prototype.getBookmarkForTime = async function (time) {
    return find(this, ({ at }) => at <= time).bookmark;
  };
  prototype.onNextSessionRestoreBookmark = async function (bookmark) {
    const { content } = find(this, (state) => state.bookmark === bookmark);
    const undo = crypto.randomUUID();
    scheduled.set(ids.get(this), { content, undo });
    return undo;
  };
}

const recoverable = (Plain) =>
  class extends Plain {
    constructor(state, env) {
      const { storage } = state;
      const id = state.id.toString();
      ids.set(storage, id);
      patch(storage);
      const next = scheduled.get(id);
      if (next) {
        scheduled.delete(id);
        keep(id, next.undo, storage);
        storage.transactionSync(() => write(storage, next.content));
        storage.deleteAlarm();
      }
      super(state, env);
      this.storage = storage;
    }

    fetch(request) {
      const next = scheduled.get(ids.get(this.storage));
      if (next && !next.isLost) {
        next.isLost = true;
        throw new Error("the first call after a restore was scheduled is lost");
      }
      if (request.url !== "https://object/keep") return super.fetch(request);
      keep(ids.get(this.storage), crypto.randomUUID(), this.storage);
      return new Response();
    }
  };

export const Accounts = recoverable(origin.Accounts);
export const Activity = recoverable(origin.Activity);
export const Catalog = recoverable(origin.Catalog);
export const Clicks = recoverable(origin.Clicks);
export const Counters = recoverable(origin.Counters);
export const Ledger = recoverable(origin.Ledger);
export const Outbox = recoverable(origin.Outbox);
export const Postbacks = recoverable(origin.Postbacks);

export class Keep extends WorkerEntrypoint {
  fetch(request) {
    const [, namespace, name] = new URL(request.url).pathname.split("/");
    const objects = this.env[namespace];
    return objects.get(objects.idFromName(name)).fetch("https://object/keep");
  }
}
