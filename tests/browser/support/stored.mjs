// Changes the objects' databases on disk, for states that only other code, or years of traffic, would make. workerd must be
// down. Python is there for the build already, and has SQLite, which Node.js 20 has not.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const OUTBOXES = "signpost-outbox";
const CLICKS = "signpost-clicks";
const ACTIVITY = "signpost-activity";
const LEDGERS = "signpost-ledger";

// Arguments: a folder of databases, an app, and a program for each of the app's databases, with `db` and `path`.
const OPEN = `
import glob, os, sqlite3, struct, sys
folder, app, program = sys.argv[1:4]
found = 0
for path in glob.glob(os.path.join(folder, "*.sqlite")):
    db = sqlite3.connect(path, isolation_level=None)
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'outbox'").fetchone() is None:
        continue
    if db.execute("SELECT app FROM outbox").fetchone() != (int(app),):
        continue
    found += 1
    exec(program)
    db.close()
sys.exit(0 if found else "no outbox of this app")
`;

function change(objects, app, program) {
  const { status, stderr } = spawnSync("python3", ["-c", OPEN, join(objects, OUTBOXES), app, program], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
}

/** Runs statements on an app's outboxes. */
export const changeOutboxes = (objects, app, sql) => change(objects, app, `db.executescript(${JSON.stringify(sql)})`);

/**
 * Makes an app's outboxes this large. SQLite believes the number of pages in the header. The added pages belong to no
 * table, and are a hole in the file, which takes no room on the disk.
 */
export const resizeOutboxes = (objects, app, bytes) =>
  change(
    objects,
    app,
    `
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
db.execute("PRAGMA journal_mode=DELETE")
size = db.execute("PRAGMA page_size").fetchone()[0]
db.close()
pages = ${bytes} // size
with open(path, "r+b") as file:
    file.seek(28)
    file.write(struct.pack(">I", pages))
    file.truncate(pages * size)
db = sqlite3.connect(path)
db.execute("PRAGMA journal_mode=WAL")
`,
  );

const EXPIRE = `
import glob, os, sqlite3, sys
found = 0
for path in glob.glob(os.path.join(sys.argv[1], "*.sqlite")):
    db = sqlite3.connect(path, isolation_level=None)
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'records'").fetchone() is not None:
        found += db.execute("UPDATE records SET expires_at_ms = 1").rowcount
    db.close()
sys.exit(0 if found else "no click is kept")
`;

/** Deletes the records of all clicks, as happens some time after the last day on which they can be converted. */
export function expireClicks(objects) {
  const { status, stderr } = spawnSync("python3", ["-c", EXPIRE, join(objects, CLICKS)], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

// Arguments: a folder of databases, a table that only one kind of object has, and statements.
const EVERY = `
import glob, os, sqlite3, sys
found = 0
for path in glob.glob(os.path.join(sys.argv[1], "*.sqlite")):
    db = sqlite3.connect(path, isolation_level=None)
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", [sys.argv[2]]).fetchone() is not None:
        found += 1
        db.executescript(sys.argv[3])
    db.close()
sys.exit(0 if found else "no object has this table")
`;

function changeEvery(folder, table, sql) {
  const { status, stderr } = spawnSync("python3", ["-c", EVERY, folder, table, sql], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

/** Runs statements on the object that keeps the reports of instances and outboxes for the service page. */
export const changeReported = (objects, sql) => changeEvery(join(objects, ACTIVITY), "attention_figures", sql);

/** Runs statements on all ledgers. */
export const changeLedgers = (objects, sql) => changeEvery(join(objects, LEDGERS), "segments", sql);
