//! Tests of the origin's objects on a real SQLite: production SQL and handlers over a backend that imitates a Durable
//! Object's and fails where a test injects a fault.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

#[path = "../support/registers.rs"]
mod registers;
#[path = "../support/sqlite.rs"]
mod sqlite;
#[path = "../support/storage.rs"]
mod storage;

mod accounts;
mod activity;
mod agreement;
mod alarms;
mod attention;
mod backend;
mod batches;
mod clicks;
mod counters;
mod counters_alarms;
mod counters_apps;
mod counters_batches_model;
mod counters_caps;
mod counters_conversions;
mod counters_days;
mod counters_folds;
mod counters_model;
mod counters_nights;
mod counters_restored;
mod counters_statements;
mod counters_world;
mod ledger;
mod migrations;
mod mock_platform;
mod object_shell;
mod outbox;
mod outbox_simulation;
mod postbacks;
mod promised;
mod register;
mod test_catalog;
mod told;

use std::collections::BTreeSet;

use futures_util::FutureExt;
use origin::objects::counters::TakenCounts;
use proptest::prelude::ProptestConfig;
use sqlite::{Fault, Faults, Sqlite};

use platform::{
    database::{Database, Row, Value},
    migrations::{self as schema, Migration},
};

/// The length of a simulation, which `PROPTEST_CASES` overrides. Shrinking ends after so many steps, since a case takes long.
fn simulations(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, max_shrink_iters: 4_000, ..ProptestConfig::default() }
}

/// A database with an object's schema, as it is before the first command.
fn migrated(migrations: &[Migration]) -> Sqlite {
    let db = Sqlite::in_memory();
    schema::migrate(&db, 0, migrations).unwrap();
    db
}

/// The output of a future that never waits.
fn now<T>(work: impl Future<Output = T>) -> T {
    work.now_or_never().unwrap()
}

/// Asks a counters object whose process has just started.
fn ask_counters(
    db: &Sqlite,
    now_ms: i64,
    command: contract::counters::Command,
) -> Result<contract::counters::Reply, platform::database::DatabaseError> {
    origin::objects::counters::handle(db, &TakenCounts::default(), now_ms, command)
}

/// Every row of a table.
fn dump(db: &Sqlite, table: &str) -> Vec<Row> {
    db.query(&format!("SELECT * FROM {table}"), &[]).unwrap()
}

/// Repeats a command until it is answered, like a client with an idempotent command.
fn retry_until_answered<T, E: std::fmt::Debug>(mut ask: impl FnMut() -> Result<T, E>) -> T {
    let mut errors = vec![];
    for _ in 0..10 {
        match ask() {
            Ok(answer) => return answer,
            Err(error) => errors.push(error),
        }
    }
    panic!("never answered: {errors:?}");
}

/// Runs `scenario` once without a fault and then once for each of its writes and each kind of fault, on new databases.
/// Returns each fault with the scenario's result; the run without a fault comes first.
fn under_every_fault<T>(migrations: &[Migration], scenario: impl Fn(&Sqlite) -> T) -> Vec<(String, T)> {
    let fault_free = migrated(migrations);
    fault_free.inject(Faults::none());
    let mut outcomes = vec![("no fault".to_owned(), scenario(&fault_free))];
    let writes = fault_free.writes();
    assert!(writes > 0, "the scenario writes nothing");
    for nth in 1..=writes {
        for fault in [Fault::Before, Fault::After] {
            let db = migrated(migrations);
            db.inject(Faults::at(nth, fault));
            outcomes.push((format!("write {nth} broken: {fault:?}"), scenario(&db)));
        }
    }
    outcomes
}

/// Asserts that an object ran every statement it lists and no other.
fn assert_only_listed_statements(db: &Sqlite, listed: &[&str], migrations: &[Migration]) {
    let known: BTreeSet<&str> = listed
        .iter()
        .chain(schema::ALL)
        .chain(migrations.iter().copied().flatten().copied().flatten())
        .copied()
        .collect();
    let ran = db.statements();
    let unlisted: Vec<_> = ran.iter().filter(|sql| !known.contains(sql.as_str())).collect();
    let idle: Vec<_> = listed.iter().filter(|sql| !ran.contains(**sql)).collect();
    assert!(unlisted.is_empty(), "ran but not listed: {unlisted:#?}");
    assert!(idle.is_empty(), "listed but never ran: {idle:#?}");
}

/// SQLite's query plan, one line for each table.
fn plan(db: &Sqlite, sql: &str) -> Vec<String> {
    let explained = (0..=24).find_map(|parameters| {
        let parameters = vec![Value::Null; parameters];
        db.query(&format!("EXPLAIN QUERY PLAN {sql}"), &parameters).ok()
    });
    let steps = explained.unwrap();
    steps.iter().map(|row| row.text(3).unwrap().to_owned()).collect()
}
