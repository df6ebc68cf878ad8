// Loads a copy of an object (copy.js) into an object without data, one page after another.
//
// The table `copy_load` marks such an object from its first page until it is started. Until then the object answers
// nothing else and runs no alarm (entry.js), so all of the copy is visible at once, or nothing. A deployment's objects
// are started when all of them are loaded, because they ask each other at their start.
//
// A page is applied only if it is the next one and its checksum is right. Each answer names the next page, so a loader
// needs no memory of its own: after an interruption it asks.
import { all, bound, compare, dropCopy, hasTable, list, OWN, quoted, tablesOf } from "./copy.js";

// The tables in which an object has rows although nobody has stored data: its schema, and notes about itself or about
// Signpost's isolates. A new deployment's objects have some of them.
const WITHOUT_DATA = new Set(
  `activity attention_feed attention_figures attention_rewards clicks counts feed migrations nights own_name positions
  published snapshot_parts state`.split(/\s+/),
);
const mayHaveRows = (name) => WITHOUT_DATA.has(name) || name.startsWith("tracking_s");
// The indexes and triggers of a larger database are made one in a turn, because each reads all rows of its table.
const LARGE_BYTES = 100_000_000;
const FIRST = "";

const hasRows = (sql, name) => all(sql, `SELECT 1 FROM ${quoted(name)} LIMIT 1`).length > 0;
const hasData = (sql) => tablesOf(sql).some(({ name }) => !mayHaveRows(name) && hasRows(sql, name));
const isOf = (sql, table, id) => hasTable(sql, table) && all(sql, `SELECT 1 FROM ${table} WHERE id = ?`, id).length > 0;
const isStarted = (sql, id) => isOf(sql, "copy_loaded", id);
const answer = (state) => Response.json(state, { headers: { "cache-control": "no-store" } });
const refused = (status, text = "") => new Response(text, { status });

export const isLoading = ({ sql }) => hasTable(sql, "copy_load");

// Returns the load's copy and its next page, which is `null` after the last one, and whether all is loaded.
function stateOf(sql) {
  const [[id, next]] = all(sql, "SELECT id, next FROM copy_load");
  return { id, next, is_loaded: next === null && !hasRows(sql, "copy_later") };
}

function beginLoad(storage, id) {
  const { sql } = storage;
  if (isOf(sql, "copy_load", id)) return;
  if (isLoading(storage)) endLoad(storage);
  dropCopy(sql);
  sql.exec("DROP TABLE IF EXISTS copy_loaded");
  sql.exec("CREATE TABLE copy_load (id TEXT NOT NULL, next TEXT) STRICT");
  sql.exec("CREATE TABLE copy_later (sql TEXT NOT NULL) STRICT");
  sql.exec("INSERT INTO copy_load VALUES (?, ?)", id, FIRST);
}

// Ends a load that is not started. Until its first page is applied, the tables are the object's own: requests that came
// before the load may have written to them, and the alarm may have been left out.
function endLoad(storage) {
  const { sql } = storage;
  if (stateOf(sql).next === FIRST) storage.setAlarm(Date.now());
  else dropTables(sql);
  dropCopy(sql);
}

// Returns the lines of a page and its last line. Throws if the page is damaged.
async function parse(text) {
  const at = text.lastIndexOf("\n", text.length - 2) + 1;
  const last = JSON.parse(text.slice(at));
  const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text.slice(0, at))));
  const lines = text.slice(0, at).split("\n").slice(0, -1);
  if (last.sha256 !== sha256.toHex() || last.lines !== lines.length) throw new Error("its checksum is wrong");
  return { lines: lines.map((line) => JSON.parse(line)), next: last.next };
}

function apply(sql, lines) {
  let table;
  for (const line of lines) {
    if (Array.isArray(line)) {
      const [marks, parameters] = bound(line);
      sql.exec(`INSERT OR REPLACE INTO ${table.into} VALUES (${marks})`, ...parameters);
    } else if (line.gone) {
      const [condition, ...parameters] = compare(table, "=", line.gone);
      sql.exec(`DELETE FROM ${quoted(table.table)} ${condition}`, ...parameters);
    } else if (line.table) {
      table = { ...line, into: `${quoted(line.table)} (${list(line.columns)})` };
    } else if (line.create === "table") {
      sql.exec(line.sql);
    } else {
      // Rows may exchange a unique value in the course of a copy, so indexes and triggers come after all rows.
      sql.exec("INSERT INTO copy_later VALUES (?)", line.sql);
    }
  }
}

function dropTables(sql) {
  for (const [name] of all(sql, `SELECT name FROM sqlite_schema WHERE type = 'table' AND ${OWN}`)) {
    sql.exec(`DROP TABLE ${quoted(name)}`);
  }
}

function applyPage(sql, { lines, next }, isFirst) {
  if (isFirst) dropTables(sql);
  apply(sql, lines);
  sql.exec("UPDATE copy_load SET next = ?", next);
}

function makeIndexes(sql) {
  const later = `SELECT rowid, sql FROM copy_later ORDER BY rowid LIMIT ${sql.databaseSize > LARGE_BYTES ? 1 : 1_000}`;
  for (const [rowid, statement] of all(sql, later)) {
    sql.exec(statement);
    sql.exec("DELETE FROM copy_later WHERE rowid = ?", rowid);
  }
}

// Applies a page, if it is the next one. Only a first page begins a load, so an empty page only asks. Returns the
// object's state; 400 if the page is damaged; 409 if the object has data of its own, also if requests that came before
// the load have stored it; 202 if the object has run in this process and must restart before its first page.
export async function loadPage(storage, { id, cursor, text, hasRun }) {
  const { sql } = storage;
  let page;
  try {
    page = text && (await parse(text));
  } catch (error) {
    return refused(400, error.message);
  }
  return storage.transactionSync(() => {
    if (isStarted(sql, id)) return answer({ id, next: null, is_loaded: true });
    if (!isLoading(storage)) {
      if (hasData(sql)) return refused(409);
      if (!page || cursor !== FIRST) return answer({ id: null, next: FIRST, is_loaded: false });
    }
    if (page && cursor === FIRST) beginLoad(storage, id);
    if (hasRun()) return refused(202);
    const state = stateOf(sql);
    if (state.id !== id) return answer(state);
    if (state.next === null) makeIndexes(sql);
    else if (page && cursor === state.next) {
      if (cursor === FIRST && hasData(sql)) {
        endLoad(storage);
        return refused(409);
      }
      applyPage(sql, page, cursor === FIRST);
    }
    return answer(stateOf(sql));
  });
}

// Gives up a load that is not started, so that the object has no data again.
export function giveUp(storage) {
  return storage.transactionSync(() => {
    if (isLoading(storage)) endLoad(storage);
    return new Response();
  });
}

// Starts a loaded object, which learns that it was put back (src/platform/object_shell.rs), if it stored anything or
// is for click records, which may have come after the copy. The answer is 409 if the copy is not loaded.
export function startLoaded(storage, id, name) {
  const { sql } = storage;
  return storage.transactionSync(() => {
    if (isStarted(sql, id)) return new Response();
    if (!isOf(sql, "copy_load", id) || !stateOf(sql).is_loaded) return refused(409);
    const isUsed = tablesOf(sql).length > 0 || name.startsWith("clicks-");
    sql.exec("DROP TABLE copy_later");
    sql.exec("ALTER TABLE copy_load RENAME TO copy_loaded");
    if (isUsed) {
      sql.exec("CREATE TABLE IF NOT EXISTS put_back (at_ms INTEGER NOT NULL)");
      storage.setAlarm(Date.now());
    }
    return new Response();
  });
}
