//! Copies of objects: a property of `src/origin/copy.js` and `load.js` on workerd's SQLite, and a whole Signpost's copy.

mod loaded;
mod whole;

use std::{collections::BTreeSet, ffi::OsStr, fmt::Write, fs, path::Path, process::Command};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, OPERATOR_TOKEN, Setup, Signpost, encoded, eventually_within, root},
    random::Random,
};

const HOUR_MS: i64 = 3_600_000;

/// Tables of each kind, with an index and a trigger that writes to another table.
const SCHEMA: &[&str] = &[
    "CREATE TABLE numbered (id INTEGER PRIMARY KEY, v ANY) STRICT",
    "CREATE TABLE keyless (v ANY, \"odd \"\"name'\" ANY) STRICT",
    "CREATE TABLE texts (k TEXT PRIMARY KEY, v ANY) STRICT",
    "CREATE TABLE composite (x INTEGER, y ANY, z BLOB, v ANY, PRIMARY KEY (z, x, y)) STRICT, WITHOUT ROWID",
    "CREATE TABLE wide (n INTEGER PRIMARY KEY, v ANY) STRICT, WITHOUT ROWID",
    "CREATE TABLE \"it's\" (id INTEGER PRIMARY KEY, u INTEGER, v REAL)",
    "CREATE UNIQUE INDEX by_u ON \"it's\" (u)",
    "CREATE TABLE counts (only INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT",
    "CREATE TRIGGER counted AFTER INSERT ON keyless BEGIN
        INSERT INTO counts VALUES (1, 1) ON CONFLICT DO UPDATE SET n = n + 1;
    END",
    "CREATE TABLE empty (id INTEGER PRIMARY KEY) STRICT",
];

/// Values whose types or digits JavaScript or JSON would lose.
const VALUES: &[&str] = &[
    "NULL",
    "0",
    "-1",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "1.0",
    "-2.5",
    "0.1",
    "1e300",
    "5e-324",
    "9e999",
    "1.0 / 3.0",
    "9007199254740993.0",
    "''",
    "'7'",
    "'it''s \"quoted\" \\ \n\u{1f600}\u{2028}'",
    "CAST(x'610062' AS TEXT)",
    "x''",
    "x'00ff80'",
    "zeroblob(3000)",
    "printf('%.*c', 700, 'x')",
];

fn value(random: &mut Random) -> &'static str {
    random.one(VALUES)
}

/// A value that can be a key.
fn key(random: &mut Random) -> &'static str {
    loop {
        let value = value(random);
        if value != "NULL" {
            return value;
        }
    }
}

/// Random writes to all tables. Few keys, so that rows change often.
fn write(random: &mut Random) -> String {
    let n = random.below(40);
    let big = random.one(&["", "9223372036854775", "-9007199254740"]);
    let (v, w, k) = (value(random), value(random), key(random));
    match random.below(16) {
        0 | 1 => format!("INSERT OR REPLACE INTO numbered VALUES ({big}{n}, {v})"),
        2 => format!("UPDATE OR IGNORE numbered SET id = id + {n}, v = {v} WHERE id % 7 = {n} % 7 AND abs(id) < 1000"),
        3 => format!("DELETE FROM numbered WHERE id = {n}"),
        4 | 5 => format!("INSERT INTO keyless VALUES ({v}, {w})"),
        6 => format!("DELETE FROM keyless WHERE rowid % 5 = {n} % 5"),
        7 => format!("UPDATE keyless SET v = {v} WHERE rowid = {n}"),
        8 => format!("INSERT INTO texts VALUES ('k{n}', {v}) ON CONFLICT DO UPDATE SET v = excluded.v"),
        9 => format!("UPDATE OR IGNORE texts SET k = 'k{n}' WHERE k = 'k{}'", n / 2),
        10 | 11 => {
            format!("INSERT OR REPLACE INTO composite VALUES ({big}{n}, {k}, CAST({n} % 3 AS BLOB), {v})")
        }
        12 => format!("UPDATE OR IGNORE composite SET x = x / 2, v = {v} WHERE x % 4 = {n} % 4"),
        13 => format!("INSERT OR IGNORE INTO \"it's\" VALUES ({n}, {}, {v})", random.below(40)),
        // Rows exchange a unique value.
        14 => format!("UPDATE OR IGNORE \"it's\" SET u = 40 - u WHERE id % 3 = {n} % 3"),
        _ => match n {
            0 => "DELETE FROM composite".into(),
            1 => "DELETE FROM keyless".into(),
            _ => format!("INSERT OR REPLACE INTO wide VALUES ({big}{n}, {v})"),
        },
    }
}

/// Selects the rows of each table, as one text with the type and the value of each column.
fn dump_sql() -> Vec<String> {
    let exact = |column: &str| {
        format!(
            "typeof({column}) || ':' || CASE typeof({column}) WHEN 'text' THEN hex({column}) WHEN 'blob' THEN
                hex({column}) WHEN 'real' THEN printf('%!.15g', {column}) ELSE ifnull({column}, '') END"
        )
    };
    let tables = [
        ("numbered", vec!["id", "v"]),
        ("keyless", vec!["rowid", "v", "\"odd \"\"name'\""]),
        ("texts", vec!["rowid", "k", "v"]),
        ("composite", vec!["x", "y", "z", "v"]),
        ("wide", vec!["n", "v"]),
        ("\"it's\"", vec!["id", "u", "v"]),
        ("counts", vec!["n"]),
        ("empty", vec!["id"]),
        ("sqlite_schema", vec!["type", "name", "sql"]),
    ];
    let dump = |(table, columns): (&str, Vec<&str>)| {
        let columns: Vec<_> = columns.iter().map(|column| exact(column)).collect();
        let own = if table == "sqlite_schema" { "WHERE name NOT GLOB '_cf_*' AND name NOT GLOB 'copy_l*'" } else { "" };
        format!("SELECT {} AS row FROM {table} {own} ORDER BY row", columns.join(" || ',' || "))
    };
    tables.into_iter().map(dump).collect()
}

struct Copied<'s> {
    workerd: &'s Signpost,
    object: String,
}

impl Copied<'_> {
    fn post(&self, command: &str, body: &str) -> Answer {
        self.workerd.send("POST", &format!("/{}/{command}", self.object), &[], body.as_bytes())
    }

    fn run(&self, statements: &[String]) -> Value {
        self.post("run", &json!(statements).to_string()).expect(200).json()
    }

    fn dump(&self) -> Vec<Value> {
        dump_sql().into_iter().map(|sql| self.run(&[sql])).collect()
    }

    /// Reads a page. Returns its text and the next cursor.
    fn page(&self, cursor: &str, bytes: usize) -> (String, Option<String>) {
        let page = self.post(&format!("copy?bytes={bytes}"), cursor).expect(200).body;
        let last: Value = serde_json::from_str(page.lines().last().expect("a line")).expect("JSON");
        let next = last["next"].as_str().map(str::to_owned);
        (page, next)
    }

    /// Loads pages, each with its cursor, in a random order in which the object takes only what comes next.
    fn load(&self, pages: &[(String, String)], random: &mut Random) {
        let mut state = json!({ "next": "", "is_loaded": false });
        while state["is_loaded"] == false {
            let next = state["next"].as_str().unwrap_or_default();
            let right = pages.iter().find(|(cursor, _)| cursor == next).expect("a page");
            let (cursor, page) = match random.below(4) {
                0 => &pages[random.below(pages.len())],
                _ => right,
            };
            state = self.post(&format!("load?cursor={}", encoded(cursor)), page).expect(200).json();
        }
    }

    fn is_copied(&self) -> bool {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'copy_*'";
        self.run(&[sql.to_owned()]) != json!([0])
    }
}

fn workerd() -> Signpost {
    Setup::new().config("copies.capnp").without_api_check().start()
}

/// Makes a database from pages, as an operator does.
fn database(pages: &str, folder: &Path) -> Connection {
    let (from, to) = (folder.join("copy.ndjson"), folder.join("copy.sqlite"));
    fs::write(&from, pages).expect("a file");
    // The command replaces no file.
    let _ = fs::remove_file(&to);
    expect_done(copy_command("to-sqlite", &[("--from", from.as_ref()), ("--to", to.as_ref())]));
    Connection::open(to).expect("a database")
}

#[test]
fn a_copy_is_the_database_at_its_last_page_whatever_is_written_between_the_pages() {
    let workerd = workerd();
    let folder = tempfile::tempdir().expect("a folder");
    let mut checked = 0;
    for seed in 0..15 {
        let mut random = Random(seed);
        let object = Copied { workerd: &workerd, object: format!("o-{seed}") };
        let schema: Vec<_> = SCHEMA.iter().map(|&sql| sql.to_owned()).collect();
        object.run(&schema);
        let mut writes = |most: usize| {
            let count = random.below(most + 1);
            object.run(&(0..count).map(|_| write(&mut random)).collect::<Vec<_>>());
            random.below(8) == 0
        };
        writes(200);
        let bytes = [1, 200, 1_000, 5_000, 1_000_000][usize::try_from(seed % 5).expect("small")];
        let (mut pages, mut cursor, mut count) = (String::new(), String::new(), 0);
        let mut parts = vec![];
        loop {
            let (mut page, mut next) = object.page(&cursor, bytes);
            // With the smallest pages, a copy would never catch up with the writes.
            let is_busy = next.is_some() && count < 60;
            if is_busy && writes(6) && !cursor.is_empty() {
                // The answer was lost, so the page is read again.
                (page, next) = object.page(&cursor, bytes);
            }
            pages.push_str(&page);
            parts.push((cursor.clone(), page));
            count += 1;
            match next {
                Some(next) => cursor = next,
                None => break,
            }
        }
        assert!(!object.is_copied(), "the copy leaves nothing");
        let loaded = Copied { workerd: &workerd, object: format!("loaded-{seed}") };
        loaded.load(&parts, &mut Random(seed));
        let copied = database(&pages, folder.path());
        for ((sql, live), loaded) in dump_sql().into_iter().zip(object.dump()).zip(loaded.dump()) {
            assert!(loaded == live, "seed {seed}, {count} pages: {sql}");
            let mut query = copied.prepare(&sql).expect("a query");
            let rows: Result<BTreeSet<String>, _> = query.query_map([], |row| row.get(0)).expect("rows").collect();
            let (rows, live) = (rows.expect("texts"), texts(&live));
            let [lost, wrong] =
                [(&live, &rows), (&rows, &live)].map(|(all, known)| all.difference(known).take(3).collect::<Vec<_>>());
            assert!(lost.is_empty() && wrong.is_empty(), "seed {seed}, {count} pages: {lost:?} {wrong:?}");
            checked += rows.len();
        }
        // SQLite's texts of reals differ between releases.
        let reals = "SELECT v FROM \"it's\" WHERE typeof(v) = 'real' ORDER BY id";
        let mut query = copied.prepare(reals).expect("a query");
        // JSON has null for an infinite number.
        let rows = query.query_map([], |row| row.get::<_, f64>(0)).expect("rows");
        let rows: Vec<_> = rows.map(|row| row.ok().filter(|real| real.is_finite())).collect();
        let live = object.run(&[reals.into()]);
        let live: Vec<_> = live.as_array().expect("rows").iter().map(Value::as_f64).collect();
        assert_eq!(rows, live, "seed {seed}");
    }
    assert!(checked > 1_000, "{checked}");
}

/// The rows of a dump. The rows of each table differ.
fn texts(rows: &Value) -> BTreeSet<String> {
    let rows = rows.as_array().expect("rows").iter();
    rows.map(|row| row.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn a_copy_ends_if_the_schema_changes_another_begins_or_the_object_goes_back() {
    let workerd = workerd();
    let object = Copied { workerd: &workerd, object: "ended".into() };
    let schema: Vec<_> = SCHEMA.iter().map(|&sql| sql.to_owned()).collect();
    object.run(&schema);
    let mut rows = String::from("INSERT INTO numbered VALUES (0, 0)");
    for n in 1..20 {
        write!(rows, ", ({n}, 'v{n}')").expect("a text");
    }
    object.run(&[rows]);
    let begin = || object.page("", 1).1.expect("a cursor");
    let is_refused = |cursor: &str| {
        object.post("copy?bytes=1", cursor).expect(409);
    };

    let cursor = begin();
    object.run(&["ALTER TABLE numbered ADD COLUMN w ANY".into()]);
    is_refused(&cursor);

    let (cursor, other) = (begin(), begin());
    is_refused(&cursor);
    let second = object.page(&other, 1).1.expect("a cursor");
    object.page(&other, 1);
    let third = object.page(&second, 1).1.expect("a cursor");
    is_refused(&other);
    // As if the object went back to before its third page was read.
    object.run(&["UPDATE copy_state SET page = page - 1".into()]);
    object.page(&second, 1);
    object.run(&["UPDATE copy_state SET page = page - 2".into()]);
    is_refused(&third);

    for text in ["{", "7", "[]", "{\"id\":7}", "next"] {
        object.post("copy?bytes=1", text).expect(400);
    }
    begin();
    object.post("end", &(HOUR_MS - 60_000).to_string()).expect(200);
    assert!(object.is_copied());
    object.post("end", &HOUR_MS.to_string()).expect(200);
    assert!(!object.is_copied());
    is_refused(&third);
}

/// A request that came before the load answers after the load has begun.
#[test]
fn a_write_before_an_object_restarts_for_a_load_is_kept() {
    let workerd = workerd();
    let of = |object: &str| Copied { workerd: &workerd, object: object.to_owned() };
    let numbered = SCHEMA[0].to_owned();
    let source = of("source");
    source.run(&[numbered.clone(), "INSERT INTO numbered VALUES (1, 1)".into()]);
    let (page, _) = source.page("", 1_000_000);
    for ends in ["load?cursor=", "give_up"] {
        let object = of(ends.split('?').next().expect("a name"));
        let ids = || object.run(&["SELECT id FROM numbered".into()]);
        object.post("load?cursor=&ran", &page).expect(202);
        object.run(&[numbered.clone(), "INSERT INTO numbered VALUES (7, 7)".into()]);
        object.post("load?cursor=&ran", &page).expect(202);
        let ended = object.post(ends, &page).status;
        assert_eq!(ended, if ends == "give_up" { 200 } else { 409 });
        assert_eq!(ids(), json!([7]));
        assert!(!object.is_copied(), "the load has ended");
        // Its alarm may have been left out during the load.
        eventually_within(10_000, &json!(true), || object.post("alarm", "").expect(200).json());
        object.post("load?cursor=", &page).expect(409);

        // Without such a write, another copy replaces one that is not started.
        object.run(&["DELETE FROM numbered".into()]);
        object.post("load?cursor=", &page).expect(200);
        assert_eq!(ids(), json!([1]));
        object.post("load?cursor=&id=2", &page).expect(200);
        assert_eq!(ids(), json!([1]));
        object.post("give_up", "").expect(200);
        let tables = "SELECT name FROM sqlite_schema WHERE name NOT GLOB '_cf_*'";
        assert_eq!(object.run(&[tables.into()]), json!([]));
    }
}

fn copy_command(name: &str, arguments: &[(&str, &OsStr)]) -> Command {
    let mut command = Command::new("python3");
    command.arg(root().join("fixtures/local/copy_objects.py")).arg(name);
    for (option, value) in arguments {
        command.arg(option).arg(value);
    }
    command.env("OPERATOR_TOKEN", OPERATOR_TOKEN);
    command
}

fn expect_done(mut command: Command) {
    let output = command.output().expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
