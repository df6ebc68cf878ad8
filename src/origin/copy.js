// An exact copy of an object's database, in pages of NDJSON that many turns read while other requests write.
//
// A small database is one page. Otherwise the first page makes triggers, which note the key of each row that is written
// from then on. After the rows of all tables come the noted rows as they are then. A page that leaves no note ends the
// copy, so the pages together are the database at the turn of the last page. A reader applies the lines in their order:
// a row replaces the row with its key.
//
// Triggers do not see the rows that an `OR REPLACE` removes because of another key than its own. No statement of an
// object does that; tests/repository/copies.rs checks it.

// An isolate has 128 MB. It holds a page as rows and as text. A page has at least one row, which can have 2 MB.
const PAGE_BYTES = 1_000_000;
// For rows whose values are short; also the notes of a page.
const BYTES_PER_ROW = 200;
// A copy ends at the first alarm after nobody has read a page for this long, because its notes are billed as writes.
const ABANDONED_MS = 3_600_000;

// The part of the schema that belongs to the object, and not to its copy or the runtime.
export const OWN = "sql IS NOT NULL AND name NOT GLOB 'copy_*' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'";
const SCHEMA = `(SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE ${OWN} ORDER BY name))`;

export const all = (sql, statement, ...parameters) =>
  sql
    .exec(statement, ...parameters)
    .raw()
    .toArray();
export const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
export const list = (names, text = quoted, between = ", ") => names.map(text).join(between);
// The columns of a note for the values of a key. They have no type, so they keep each value as it is.
const noteColumns = (count) => Array.from({ length: count }, (_, at) => `k${at}`);
const longestKey = (tables) => Math.max(1, ...tables.map(({ key }) => key.length));

// Lists the tables by name, with the columns that identify a row.
export function tablesOf(sql) {
  return all(sql, `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND ${OWN} ORDER BY name`).map(
    ([name, statement]) => {
      const found = all(sql, `PRAGMA table_info(${quoted(name)})`);
      const columns = found.map(([, column]) => column);
      const key = found.filter((column) => column[5] > 0).sort((a, b) => a[5] - b[5]);
      const hasRowid = !/WITHOUT\s+ROWID/i.test(statement.slice(statement.lastIndexOf(")")));
      // An INTEGER PRIMARY KEY is the rowid.
      const isRowid = key.length === 1 && key[0][2].toUpperCase() === "INTEGER";
      if (hasRowid && !isRowid) return { name, columns: ["rowid", ...columns], key: ["rowid"] };
      return { name, columns, key: key.map(([, column]) => column) };
    },
  );
}

// Selects the first letters of the values' types as one text, and then the values. A JavaScript number is not exact for
// an integer beyond 2^53, and does not show whether the value is a REAL.
function select(columns) {
  const exact = (name) => `iif(typeof(${name}) = 'integer', CAST(${name} AS TEXT), ${name})`;
  const kinds = list(columns, (name) => `substr(typeof(${quoted(name)}), 1, 1)`, " || ");
  return `${kinds}, ${list(columns, (name) => exact(quoted(name)))}`;
}

// The values of a selected row in JSON: null, a text, an integer within 2^53, or an object that names the type.
function cells([kinds, ...values]) {
  return values.map((value, at) => {
    switch (kinds[at]) {
      case "i":
        return Number.isSafeInteger(Number(value)) ? Number(value) : { integer: value };
      case "r":
        return { real: String(value) };
      case "b":
        return { blob: new Uint8Array(value).toBase64() };
      default:
        return value;
    }
  });
}

// The marks of a statement for the values of a row in JSON, and its parameters. SQLite gets each JavaScript number as a
// REAL.
export function bound(values) {
  // Because of the plus, a comparison has the column's affinity. Otherwise SQLite would scan the table.
  const isInteger = (value) => typeof value === "number" || value?.integer;
  const bind = (value) => (value.blob === undefined ? Number(value.real) : Uint8Array.fromBase64(value.blob));
  return [
    list(values, (value) => (isInteger(value) ? "+CAST(? AS INTEGER)" : "?")),
    values.map((value) => (value === null || typeof value !== "object" ? value : (value.integer ?? bind(value)))),
  ];
}

// A condition that compares the key of a table's row.
export function compare({ key }, operator, values) {
  const [marks, parameters] = bound(values);
  return [`WHERE (${list(key)}) ${operator} (${marks})`, ...parameters];
}

class Page {
  constructor(sql, bytes) {
    Object.assign(this, { sql, bytes, most: Math.ceil(bytes / BYTES_PER_ROW), text: "", lines: 0 });
  }

  add(line) {
    this.text += `${JSON.stringify(line)}\n`;
    this.lines += 1;
  }

  addOf(table, line) {
    if (this.table !== table) this.add({ table: table.name, columns: table.columns, key: table.key });
    this.table = table;
    this.add(line);
  }

  addSchema() {
    const schema = `SELECT type, name, sql FROM sqlite_schema WHERE ${OWN} ORDER BY type, name`;
    for (const [type, name, sql] of all(this.sql, schema)) this.add({ create: type, name, sql });
  }

  // Adds the rows after a key of a table, and those of the tables after it. Returns the place of the next page, if any.
  addRows(tables, { table: first, after }) {
    for (const table of first ? tables.slice(tables.findIndex(({ name }) => name === first)) : tables) {
      let last = table.name === first ? after : undefined;
      if (this.text.length < this.bytes) {
        const [condition, ...parameters] = last ? compare(table, ">", last) : [""];
        const from = `FROM ${quoted(table.name)} ${condition} ORDER BY ${list(table.key)} LIMIT`;
        // SQLite does not read large values for their lengths. One row too many shows that the table has more.
        const sum = list(table.columns, (name) => `ifnull(length(${quoted(name)}), 0)`, " + ");
        const lengths = all(this.sql, `SELECT ${sum} ${from} ${this.most + 1}`, ...parameters);
        let length = this.text.length;
        const end = lengths.findIndex(([more], at) => {
          length += more;
          return at === this.most || (at > 0 && length > this.bytes);
        });
        const count = end < 0 ? lengths.length : end;
        for (const row of all(this.sql, `SELECT ${select(table.columns)} ${from} ${count}`, ...parameters)) {
          const values = cells(row);
          this.addOf(table, values);
          last = table.key.map((column) => values[table.columns.indexOf(column)]);
        }
        if (end < 0) continue;
      }
      return { table: table.name, after: last };
    }
  }

  // Adds the noted rows as they are now. Returns the place of the next page, if any.
  addNoted(tables, { note: after }) {
    const [[newest]] = all(this.sql, "SELECT ifnull(MAX(number), 0) FROM copy_notes");
    const columns = noteColumns(longestKey(tables));
    // A row is added once, at the last of its notes, so the page covers all notes up to this one.
    const notes = `SELECT MAX(number), name, ${select(columns)}
      FROM (SELECT * FROM copy_notes WHERE number > ? ORDER BY number LIMIT ${this.most})
      GROUP BY name, ${list(columns)} ORDER BY 1`;
    let covered = after;
    for (const [number, name, ...values] of all(this.sql, notes, after)) {
      if (this.text.length >= this.bytes) break;
      const table = tables.find((table) => table.name === name);
      const key = cells(values).slice(0, table.key.length);
      const [condition, ...parameters] = compare(table, "=", key);
      const row = `SELECT ${select(table.columns)} FROM ${quoted(name)} ${condition}`;
      const [found] = all(this.sql, row, ...parameters);
      this.addOf(table, found ? cells(found) : { gone: key });
      covered = number;
    }
    return covered < newest ? { note: covered } : undefined;
  }
}

// Makes the triggers that note the key of each written row.
function watch(sql, { name, key }) {
  const of = (row) => list(key, (column) => `${row}.${quoted(column)}`);
  const into = `INSERT INTO copy_notes (name, ${noteColumns(key.length)}) SELECT '${name.replaceAll("'", "''")}',`;
  const note = (row) => `${into} ${of(row)}`;
  const moved = `${note("OLD")}; ${note("NEW")} WHERE (${of("NEW")}) IS NOT (${of("OLD")})`;
  for (const [event, notes] of Object.entries({ INSERT: note("NEW"), DELETE: note("OLD"), UPDATE: moved })) {
    const trigger = quoted(`copy_${event}_${name}`);
    sql.exec(`CREATE TRIGGER ${trigger} AFTER ${event} ON ${quoted(name)} BEGIN ${notes}; END`);
  }
}

// Begins to note writes. Returns the copy's id.
function begin(sql, tables) {
  const columns = noteColumns(longestKey(tables));
  sql.exec(`CREATE TABLE copy_notes (number INTEGER PRIMARY KEY, name TEXT NOT NULL, ${columns})`);
  sql.exec("CREATE TABLE copy_state (id TEXT, page INTEGER, read_ms INTEGER, schema TEXT) STRICT");
  const id = crypto.randomUUID();
  sql.exec(`INSERT INTO copy_state SELECT ?, 1, ?, ${SCHEMA}`, id, Date.now());
  for (const table of tables) watch(sql, table);
  return id;
}

export const hasTable = (sql, name) => all(sql, "SELECT 1 FROM sqlite_schema WHERE name = ?", name).length > 0;
const isCopied = (sql) => hasTable(sql, "copy_state");

// Returns whether the copy of a cursor can go on. The number of the page shows a restore of the object to a time before
// a page that was already read.
function goesOn(sql, { id, page }) {
  const same = `SELECT 1 FROM copy_state WHERE id = ? AND page - ? IN (0, 1) AND schema = ${SCHEMA}`;
  if (!isCopied(sql) || !all(sql, same, id, page).length) return false;
  sql.exec("UPDATE copy_state SET page = ?, read_ms = ?", page + 1, Date.now());
  return true;
}

// Removes all that belongs to a copy or a load, except the note of a load that was started.
export function dropCopy(sql) {
  const names = `SELECT type, name FROM sqlite_schema
    WHERE name GLOB 'copy_*' AND name <> 'copy_loaded' ORDER BY type DESC`;
  for (const [type, name] of all(sql, names)) sql.exec(`DROP ${type} ${quoted(name)}`);
}

// Reads the page at a cursor, in one turn. Without a cursor, ends an unfinished copy and begins another. A page may be
// read again until the next one is read, but not the last page. Returns `undefined` if the copy has ended.
function read({ sql }, cursor, bytes) {
  const tables = tablesOf(sql);
  const page = new Page(sql, bytes);
  let next;
  if (!cursor) {
    dropCopy(sql);
    page.addSchema();
    next = page.addRows(tables, {});
  } else {
    if (!goesOn(sql, cursor)) return undefined;
    next = cursor.table && page.addRows(tables, cursor);
    next ??= page.addNoted(tables, { note: cursor.note ?? 0 });
  }
  if (next) next = { ...next, id: cursor?.id ?? begin(sql, tables), page: (cursor?.page ?? 0) + 1 };
  else dropCopy(sql);
  return { ...page, next: next && JSON.stringify(next) };
}

// Answers a page. Its last line has the next page's cursor, the number of lines before it, and their SHA-256. The
// answer is 400 if the cursor is not one, and 409 if its copy has ended.
export async function copyPage(storage, text, bytes = PAGE_BYTES) {
  let cursor;
  try {
    cursor = text && JSON.parse(text);
  } catch {}
  if (text && typeof cursor?.id !== "string") return new Response(null, { status: 400 });
  const page = storage.transactionSync(() => read(storage, cursor, bytes));
  if (!page) return new Response(null, { status: 409 });
  const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(page.text))).toHex();
  const last = JSON.stringify({ next: page.next ?? null, lines: page.lines, sha256 });
  const headers = { "content-type": "application/x-ndjson", "cache-control": "no-store" };
  return new Response(`${page.text}${last}\n`, { headers });
}

// Ends a copy that nobody reads any more. Returns whether a copy goes on. Alarms call this.
export function endAbandoned(storage, nowMs = Date.now()) {
  const { sql } = storage;
  if (!isCopied(sql)) return false;
  const [[readMs]] = all(sql, "SELECT read_ms FROM copy_state");
  if (nowMs - readMs < ABANDONED_MS) return true;
  storage.transactionSync(() => dropCopy(sql));
  return false;
}
