//! `origin/ledger` on a real SQLite: what is loaded, added and counted is what reports say, whatever breaks on the way.

mod batches;
mod kept;
mod keys;
mod model;
mod statements;
mod uploads;

use std::collections::BTreeMap;

use super::{Fault, Faults, Sqlite, assert_only_listed_statements, migrated};
use domain::{
    model::time::UtcDay,
    reporting::{
        Dimension, Measure, Metric, Sums,
        engine::Budget,
        facts::Fact,
        query::{Column, Order, Query},
    },
};
use origin::ledger::{self, report, upload::Upload};
use platform::database::DatabaseError;

type Key = [String; 6];
/// What a report of everything says: sums by day and key.
type Rows = BTreeMap<(UtcDay, Key), Sums>;

fn ledger() -> Sqlite {
    migrated(ledger::MIGRATIONS)
}

fn day(number: i64) -> UtcDay {
    UtcDay::from_number(20_000 + number).unwrap()
}

/// A fact of one of a few keys.
fn key(n: u32) -> Key {
    let app = format!("1000000{}", n % 3);
    let country = ["DE", "US", "ZZ"][(n / 3 % 3) as usize];
    [
        &app,
        country,
        &format!("place-{}", n / 9 % 5),
        "banner",
        "house",
        "7.0.0",
    ]
    .map(Into::into)
}

/// An upload of these facts, in memory.
fn upload(number: i64, facts: &[(UtcDay, Key, Sums)]) -> Upload {
    let mut upload = Upload::new(number);
    for (day, key, sums) in facts {
        upload.note(format!("{day}{key:?}{sums:?}").as_bytes());
        let fact = Fact {
            day: *day,
            key: key.each_ref().map(String::as_str),
            sums: *sums,
            app_name: None,
        };
        upload.add(&fact).unwrap();
    }
    upload
}

/// Everything, as a report says it.
fn reported(db: &Sqlite) -> Rows {
    let query = Query {
        start: day(0),
        end: day(90),
        dimensions: Dimension::ALL.to_vec(),
        metrics: Measure::ALL.map(Metric::Sum).to_vec(),
        filters: vec![],
        order: vec![Order {
            column: Column::Dimension(Dimension::Date),
            ascending: true,
        }],
        page: 1,
        count: 50_000,
    };
    let page = report::make(db, &query, &Budget::default()).unwrap().page;
    assert_eq!(page.total, page.rows() as u64, "one page holds it");
    let mut rows = Rows::new();
    for at in 0..page.rows() {
        let row = page.row(at).unwrap();
        let day = UtcDay::parse(row.value(0).unwrap()).unwrap();
        let key = std::array::from_fn(|place| row.value(place + 1).unwrap().to_owned());
        assert!(rows.insert((day, key), *row.sums).is_none(), "a key has one row");
    }
    rows
}

fn add(rows: &mut Rows, day: UtcDay, key: &Key, sums: &Sums) {
    let row = rows.entry((day, key.clone())).or_default();
    row.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
}

/// Has `act` done on databases that `setup` made, one for every write of `act` and every way in which it can break; then
/// `check` looks at what is left.
fn under_faults<T>(setup: impl Fn(&Sqlite), act: impl Fn(&Sqlite) -> T, check: impl Fn(&Sqlite, &str, T)) {
    let run = |faults| {
        let db = ledger();
        setup(&db);
        db.inject(faults);
        let done = act(&db);
        let writes = db.writes();
        db.inject(Faults::none());
        (db, done, writes)
    };
    let (db, done, writes) = run(Faults::none());
    assert!(writes > 0, "it writes nothing");
    check(&db, "no fault", done);
    for nth in 1..=writes {
        for fault in [Fault::Before, Fault::After] {
            let (db, done, _) = run(Faults::at(nth, fault));
            check(&db, &format!("write {nth} broken: {fault:?}"), done);
        }
    }
}

/// Carries a database error out of a step that is tried again.
fn broken(failure: platform::failure::Failure) -> DatabaseError {
    match failure {
        platform::failure::Failure::Internal(cause) => DatabaseError(cause),
        refused => panic!("{refused:?}"),
    }
}
