//! The origin's objects on a real SQLite: the same SQL and the same handlers as in production, over a backend that
//! imitates a Durable Object's and breaks where it is told to.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

#[path = "../support/sqlite.rs"]
mod sqlite;

mod backend;
mod batches;
mod clicks;
mod counters;
mod counters_batches;
mod counters_batches_model;
mod counters_caps;
mod counters_conversions;
mod counters_model;
mod counters_world;
mod ledger;
mod migrations;
mod outbox;
mod outbox_simulation;

use std::collections::BTreeSet;

use sqlite::{Fault, Faults, Sqlite};

use platform::{
    database::{Database, Row},
    migrations::{self as schema, Migration},
};

/// A database with an object's schema, as it stands when the first command comes.
fn migrated(migrations: &[Migration]) -> Sqlite {
    let db = Sqlite::in_memory();
    schema::migrate(&db, 0, migrations).unwrap();
    db
}

/// Every row of a table.
fn dump(db: &Sqlite, table: &str) -> Vec<Row> {
    db.query(&format!("SELECT * FROM {table}"), &[]).unwrap()
}

/// What a client does that may repeat its command: it asks until it is answered.
fn asked_until_answered<T, E: std::fmt::Debug>(mut ask: impl FnMut() -> Result<T, E>) -> T {
    let mut errors = vec![];
    for _ in 0..10 {
        match ask() {
            Ok(answer) => return answer,
            Err(error) => errors.push(error),
        }
    }
    panic!("never answered: {errors:?}");
}

/// Runs `scenario` on new databases, one for every write that it makes and every way in which that write can break,
/// and gives what each was left with; first comes what is left when nothing breaks.
fn under_every_fault<T>(migrations: &[Migration], scenario: impl Fn(&Sqlite) -> T) -> Vec<(String, T)> {
    let untroubled = migrated(migrations);
    untroubled.inject(Faults::none());
    let mut outcomes = vec![("no fault".to_owned(), scenario(&untroubled))];
    let writes = untroubled.writes();
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

/// Shows that an object ran every statement it lists and no other.
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
