//! Schema migrations.

use crate::{
    dump, retry_until_answered,
    sqlite::{Fault, Faults, Sqlite},
};
use platform::{
    database::Database,
    migrations::{Migration, migrate},
};

const FIRST: Migration = &[
    &["CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT"],
    &["INSERT INTO a VALUES (1)"],
];
const SECOND: Migration = &[&["INSERT INTO a VALUES (2)"]];
const BROKEN: Migration = &[&["INSERT INTO a VALUES (3)", "INSERT INTO no_such_table VALUES (1)"]];

fn integers(db: &Sqlite, table: &str) -> Vec<Vec<i64>> {
    let row_of = |row: &platform::database::Row| (0..row.0.len()).map(|n| row.integer(n).unwrap()).collect();
    dump(db, table).iter().map(row_of).collect()
}

#[test]
fn each_migration_is_applied_once_and_recorded() {
    let db = Sqlite::in_memory();
    migrate(&db, 100, &[FIRST]).unwrap();
    migrate(&db, 200, &[FIRST]).unwrap();
    assert_eq!(integers(&db, "a"), [[1]]);
    migrate(&db, 300, &[FIRST, SECOND]).unwrap();
    migrate(&db, 400, &[FIRST, SECOND]).unwrap();
    assert_eq!(integers(&db, "a"), [[1], [2]]);
    assert_eq!(integers(&db, "migrations"), [[1, 100], [2, 300]]);
}

#[test]
fn a_failed_migration_is_rolled_back() {
    let db = Sqlite::in_memory();
    assert!(migrate(&db, 100, &[FIRST, SECOND, BROKEN]).is_err());
    assert_eq!(integers(&db, "a"), [[1], [2]]);
    assert_eq!(integers(&db, "migrations"), [[1, 100], [2, 100]]);
}

#[test]
fn a_database_newer_than_the_code_is_refused_unchanged() {
    let db = Sqlite::in_memory();
    migrate(&db, 100, &[FIRST, SECOND]).unwrap();
    let refused = migrate(&db, 200, &[FIRST]).unwrap_err();
    assert!(refused.0.contains("newer"), "{refused}");
    assert_eq!(integers(&db, "migrations"), [[1, 100], [2, 100]]);
}

#[test]
fn the_next_start_completes_a_migration_that_crashed() {
    for fault in [Fault::Before, Fault::After] {
        for nth in 1.. {
            let db = Sqlite::in_memory();
            db.inject(Faults::at(nth, fault));
            retry_until_answered(|| migrate(&db, 100, &[FIRST, SECOND]));
            if db.writes() < nth {
                assert!(nth > 5, "there are more writes");
                break;
            }
            assert_eq!(integers(&db, "a"), [[1], [2]], "write {nth} {fault:?}");
            assert_eq!(
                integers(&db, "migrations"),
                [[1, 100], [2, 100]],
                "write {nth} {fault:?}"
            );
        }
    }
}

#[test]
fn a_statement_with_a_second_one_is_refused() {
    let db = Sqlite::in_memory();
    assert!(
        migrate(
            &db,
            100,
            &[&[&["CREATE TABLE a (id INTEGER) STRICT; CREATE TABLE b (id INTEGER) STRICT"]]]
        )
        .is_err()
    );
    assert!(db.query("SELECT * FROM a", &[]).is_err());
}
