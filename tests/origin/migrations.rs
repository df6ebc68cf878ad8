//! Schema migrations.

use crate::{
    dump, retry_until_answered,
    sqlite::{Fault, Faults, Sqlite},
};
use platform::{
    database::Database,
    migrations::{Migration, MigrationError, migrate},
};

const FIRST: Migration = &[&["CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT"], &["INSERT INTO a VALUES (1)"]];
const SECOND: Migration = &[&["INSERT INTO a VALUES (2)"]];
const ADDS_LATER: Migration = &[&["CREATE TABLE d (id INTEGER) STRICT"]];
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
    assert_eq!(integers(&db, "migrations"), [[1, 100, 0], [2, 300, 0]]);
}

#[test]
fn a_failed_migration_is_rolled_back() {
    let db = Sqlite::in_memory();
    assert!(migrate(&db, 100, &[FIRST, SECOND, BROKEN]).is_err());
    assert_eq!(integers(&db, "a"), [[1], [2]]);
    assert_eq!(integers(&db, "migrations"), [[1, 100, 0], [2, 100, 0]]);
}

#[test]
fn a_database_newer_than_the_code_is_refused_unchanged() {
    let db = Sqlite::in_memory();
    migrate(&db, 100, &[FIRST, SECOND]).unwrap();
    let refused = migrate(&db, 200, &[FIRST]);
    assert!(matches!(refused, Err(MigrationError::Newer(2))), "{refused:?}");
    assert_eq!(integers(&db, "migrations"), [[1, 100, 0], [2, 100, 0]]);
}

#[test]
fn older_code_goes_on_if_newer_code_only_added_to_the_schema() {
    const ADDS: Migration = &[&[
        "CREATE TABLE b (id INTEGER) STRICT",
        "ALTER TABLE a ADD COLUMN more TEXT",
        "CREATE INDEX a_by_more ON a (more)",
    ]];
    for (changes, goes_on) in [
        (ADDS, true),
        (&[&["CREATE UNIQUE INDEX a_by_id ON a (id)"]], false),
        (&[&["ALTER TABLE a RENAME TO c"]], false),
        (&[&["DROP TABLE a"]], false),
        (&[&["CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END"]], false),
        (SECOND, false),
    ] {
        let db = Sqlite::in_memory();
        migrate(&db, 100, &[FIRST, changes]).unwrap();
        assert_eq!(migrate(&db, 200, &[FIRST]).is_ok(), goes_on, "{changes:?}");
        // The newer code comes back.
        migrate(&db, 300, &[FIRST, changes]).unwrap();
        migrate(&db, 400, &[FIRST, changes, ADDS_LATER]).unwrap();
        assert_eq!(migrate(&db, 500, &[FIRST]).is_ok(), goes_on, "{changes:?}");
    }
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
            assert_eq!(integers(&db, "migrations"), [[1, 100, 0], [2, 100, 0]], "write {nth} {fault:?}");
        }
    }
}

#[test]
fn a_statement_with_a_second_one_is_refused() {
    let db = Sqlite::in_memory();
    assert!(
        migrate(&db, 100, &[&[&["CREATE TABLE a (id INTEGER) STRICT; CREATE TABLE b (id INTEGER) STRICT"]]]).is_err()
    );
    assert!(db.query("SELECT * FROM a", &[]).is_err());
}
