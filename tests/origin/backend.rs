//! Tests of the SQLite imitation itself. It must have each of the platform's traps, or tests that use it prove nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sqlite::{Fault, Faults, Sqlite};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    params,
};

fn with_table() -> Sqlite {
    let db = Sqlite::in_memory();
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT) STRICT", &[]).unwrap();
    db.inject(Faults::none());
    db
}

fn add(db: &Sqlite, id: i64) -> Result<(), DatabaseError> {
    db.execute("INSERT INTO t (id) VALUES (?)", params![id])
}

fn ids(db: &Sqlite) -> Vec<i64> {
    db.query("SELECT id FROM t ORDER BY id", &[]).unwrap().iter().map(|row| row.integer(0).unwrap()).collect()
}

fn one(db: &Sqlite, sql: &str, parameters: &[Value]) -> Value {
    let Row(mut columns) = db.query_first(sql, parameters).unwrap().unwrap();
    columns.remove(0)
}

#[test]
fn an_integer_is_bound_as_a_double() {
    let db = Sqlite::in_memory();
    assert_eq!(one(&db, "SELECT typeof(?)", params![7_i64]), Value::Text("real".into()));
    assert_eq!(one(&db, "SELECT ? / 2", params![7_i64]), Value::Real(3.5));
    assert_eq!(one(&db, "SELECT CAST(? AS INTEGER) / 2", params![7_i64]), Value::Integer(3));
    assert_eq!(one(&db, "SELECT '' || ?", params![7_i64]), Value::Text("7.0".into()));
}

#[test]
fn only_a_strict_integer_column_stores_a_bound_integer_as_an_integer() {
    let db = Sqlite::in_memory();
    db.execute("CREATE TABLE strict_one (n INTEGER) STRICT", &[]).unwrap();
    db.execute("CREATE TABLE loose (n)", &[]).unwrap();
    for (table, kind) in [("strict_one", "integer"), ("loose", "real")] {
        db.execute(&format!("INSERT INTO {table} VALUES (?)"), params![7_i64]).unwrap();
        assert_eq!(one(&db, &format!("SELECT typeof(n) FROM {table}"), &[]), Value::Text(kind.into()));
    }
}

#[test]
fn an_integer_beyond_2_to_the_53_is_neither_bound_nor_read() {
    let db = with_table();
    let most = 1_i64 << 53;
    for good in [most, -most] {
        assert_eq!(one(&db, "SELECT CAST(? AS INTEGER)", params![good]), Value::Integer(good));
    }
    for bad in [most + 1, -most - 1, i64::MAX, i64::MIN] {
        assert!(add(&db, bad).is_err(), "{bad}");
    }
    let row = db.query_first("SELECT 9007199254740999", &[]).unwrap().unwrap();
    assert!(row.integer(0).is_err(), "{row:?}");
}

#[test]
fn every_kind_of_value_is_stored_and_read_unchanged() {
    let db = Sqlite::in_memory();
    db.execute("CREATE TABLE v (i INTEGER, r REAL, t TEXT, b BLOB, n TEXT) STRICT", &[]).unwrap();
    let values = vec![(-3_i64).into(), Value::Real(0.5), "é\0".into(), vec![0_u8, 255].into(), None::<&str>.into()];
    db.execute("INSERT INTO v VALUES (?, ?, ?, ?, ?)", &values).unwrap();
    assert_eq!(db.query("SELECT * FROM v", &[]).unwrap(), [Row(values)]);
}

#[test]
fn the_limits_of_workerd_apply() {
    let db = with_table();
    let parameters = |count: usize| vec![Value::Null; count];
    let select = |count: usize| format!("SELECT {}", vec!["coalesce(?, 0)"; count].join(" + "));
    assert!(db.query(&select(49), &parameters(49)).is_ok());
    let long = |length: usize| Value::Text("x".repeat(length));
    let too_many_rows = format!("SELECT * FROM (VALUES {})", vec!["(1,2,3,4,5,6,7,8)"; 5_500].join(","));
    let cases: Vec<(&str, String, Vec<Value>)> = vec![
        ("100 parameters", format!("SELECT ?101, {}", vec!["?"; 50].join(",")), parameters(151)),
        ("100 KB of SQL", format!("SELECT 1 /* {} */", "x".repeat(100_000)), vec![]),
        ("expressions 100 deep", format!("SELECT {}1{}", "abs(".repeat(101), ")".repeat(101)), vec![]),
        ("5 SELECTs in a compound", ["SELECT 1"; 6].join(" UNION ALL "), vec![]),
        ("100 columns", format!("SELECT {}", vec!["1"; 101].join(",")), vec![]),
        ("values of 2 MB", "SELECT ?".into(), vec![long(2_000_001)]),
        ("LIKE patterns of 50 bytes", "SELECT 'x' LIKE ?".into(), vec![long(51)]),
        ("25,000 operations", too_many_rows, vec![]),
        ("127 arguments of a function", format!("SELECT max({})", ["1"; 128].join(",")), vec![]),
    ];
    for (limit, sql, parameters) in cases {
        assert!(db.query(&sql, &parameters).is_err(), "{limit}");
    }
    assert!(db.query("SELECT 'x' LIKE ?", &[long(50)]).is_ok());
    assert!(db.query("SELECT ?", &[long(1_999_000)]).is_ok());
}

#[test]
fn statements_that_workerd_refuses_are_refused() {
    let db = with_table();
    for sql in [
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT s",
        "PRAGMA user_version",
        "PRAGMA user_version = 3",
        "PRAGMA journal_mode",
        "ATTACH ':memory:' AS other",
        "CREATE TEMP TABLE t2 (id INTEGER)",
        "CREATE TABLE _cf_t (id INTEGER)",
        "SELECT sqlite_version()",
        "SELECT 1; SELECT 2",
        "SELECT \"no such column\"",
        "",
    ] {
        assert!(db.execute(sql, &[]).is_err(), "{sql}");
    }
    assert!(db.query("PRAGMA table_info(t)", &[]).is_ok());
    assert!(db.query("SELECT json_group_array(value) FROM json_each('[1]')", &[]).is_ok());
}

#[test]
fn a_statement_takes_exactly_its_parameters() {
    let db = with_table();
    assert!(db.execute("INSERT INTO t (id) VALUES (?)", &[]).is_err());
    assert!(db.execute("INSERT INTO t (id) VALUES (?)", params![1_i64, 2_i64]).is_err());
    assert!(ids(&db).is_empty());
}

#[test]
fn a_transaction_is_atomic() {
    let db = with_table();
    db.transaction(|| add(&db, 1).and_then(|()| add(&db, 2))).unwrap();
    let undone: Result<(), _> = db.transaction(|| {
        add(&db, 3)?;
        Err(DatabaseError("rolled back".into()))
    });
    assert_eq!(undone, Err(DatabaseError("rolled back".into())));
    assert!(db.transaction(|| add(&db, 4).and_then(|()| add(&db, 1))).is_err());
    assert_eq!(ids(&db), [1, 2]);
}

#[test]
fn transactions_do_not_nest() {
    let db = with_table();
    let outer: Result<(), DatabaseError> = db.transaction(|| {
        add(&db, 1)?;
        db.transaction(|| add(&db, 2))
    });
    assert!(outer.is_err());
    assert!(ids(&db).is_empty());
    db.transaction(|| add(&db, 3)).unwrap();
    assert_eq!(ids(&db), [3]);
}

#[test]
fn a_panic_rolls_its_transaction_back() {
    let db = with_table();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        db.transaction(|| -> Result<(), DatabaseError> {
            add(&db, 1)?;
            panic!("a bug");
        })
    }));
    assert!(panicked.is_err());
    db.transaction(|| add(&db, 2)).unwrap();
    assert_eq!(ids(&db), [2]);
}

#[test]
fn a_write_fails_before_or_after_it_takes_effect() {
    for (fault, left) in [(Fault::Before, vec![1, 3]), (Fault::After, vec![1, 2, 3])] {
        let db = with_table();
        db.inject(Faults::at(2, fault));
        let outcomes = [1, 2, 3].map(|id| {
            ids(&db); // a read is not a write
            add(&db, id).is_ok()
        });
        assert_eq!(outcomes, [true, false, true], "{fault:?}");
        assert_eq!(ids(&db), left, "{fault:?}");
        assert_eq!(db.writes(), 3);
    }
}

#[test]
fn a_commit_fails_before_or_after_it_takes_effect() {
    for (fault, left) in [(Fault::Before, vec![]), (Fault::After, vec![1, 2])] {
        let db = with_table();
        db.inject(Faults::at(3, fault));
        assert!(db.transaction(|| add(&db, 1).and_then(|()| add(&db, 2))).is_err());
        assert_eq!(ids(&db), left, "{fault:?}");
        db.transaction(|| add(&db, 3)).unwrap();
    }
}

#[test]
fn a_failed_write_rolls_its_transaction_back() {
    for fault in [Fault::Before, Fault::After] {
        let db = with_table();
        db.inject(Faults::at(2, fault));
        assert!(db.transaction(|| add(&db, 1).and_then(|()| add(&db, 2))).is_err());
        assert!(ids(&db).is_empty(), "{fault:?}");
    }
}

#[test]
fn faults_are_injected_write_by_write() {
    let db = with_table();
    db.inject(Faults::script([Some(Fault::Before), None, Some(Fault::After)]));
    assert_eq!([1, 2, 3, 4].map(|id| add(&db, id).is_ok()), [false, true, false, true]);
    assert_eq!(ids(&db), [2, 3, 4]);
}

#[test]
fn every_statement_is_recorded_once() {
    let db = with_table();
    add(&db, 1).unwrap();
    add(&db, 2).unwrap();
    assert!(db.statements().contains("INSERT INTO t (id) VALUES (?)"));
    assert_eq!(db.statements().len(), 2);
}

#[test]
fn a_file_keeps_committed_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("object.sqlite");
    let db = Sqlite::open(&path);
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT", &[]).unwrap();
    add(&db, 1).unwrap();
    drop(db);
    assert_eq!(ids(&Sqlite::open(&path)), [1]);
}
