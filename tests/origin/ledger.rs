//! `origin::objects::ledger` on a real SQLite: reports equal the loaded, added and counted facts after any fault.

mod alarms;
mod batches;
mod copies;
mod exports;
mod keys;
mod metadata;
mod model;
mod restate;
mod restored;
mod retention;
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
use origin::objects::ledger::{self, report, segments::Segments, upload::Upload};
use platform::database::DatabaseError;

type Key = [String; 6];
/// The rows of a report over everything: sums by day and key.
type Rows = BTreeMap<(UtcDay, Key), Sums>;

fn ledger() -> Sqlite {
    migrated(ledger::MIGRATIONS)
}

fn day(number: i64) -> UtcDay {
    UtcDay::from_number(20_000 + number).unwrap()
}

/// One of 45 keys.
fn key(n: u32) -> Key {
    let app = format!("1000000{}", n % 3);
    let country = ["DE", "US", "ZZ"][(n / 3 % 3) as usize];
    [&app, country, &format!("place-{}", n / 9 % 5), "banner", "house", "7.0.0"].map(Into::into)
}

/// An upload of these facts in memory.
fn upload(number: i64, facts: &[(UtcDay, Key, Sums)]) -> Upload {
    let mut upload = Upload::new(number);
    for (day, key, sums) in facts {
        upload.note(format!("{day}{key:?}{sums:?}").as_bytes());
        let fact = Fact { day: *day, key: key.each_ref().map(String::as_str), sums: *sums, app_name: None };
        upload.add(&fact).unwrap();
    }
    upload
}

/// A report over everything.
fn reported(db: &Sqlite) -> Rows {
    reported_of(db, &Segments::new(db, None))
}

/// The same of these segments.
fn reported_of(db: &Sqlite, segments: &Segments<'_, Sqlite>) -> Rows {
    reported_of_days(db, segments, [day(0), day(90)])
}

/// The same between two days.
fn reported_between(db: &Sqlite, first: UtcDay, last: UtcDay) -> Rows {
    reported_of_days(db, &Segments::new(db, None), [first, last])
}

fn reported_of_days(db: &Sqlite, segments: &Segments<'_, Sqlite>, [start, end]: [UtcDay; 2]) -> Rows {
    let query = Query {
        start,
        end,
        dimensions: Dimension::ALL.to_vec(),
        metrics: Measure::ALL.map(Metric::Sum).to_vec(),
        filters: vec![],
        order: vec![Order { column: Column::Dimension(Dimension::Date), ascending: true }],
        page: 1,
        count: 50_000,
    };
    let page = report::build_of(segments, db, &query, &Budget::default()).unwrap().page;
    assert_eq!(page.total, page.rows() as u64, "the report fits into one page");
    let mut rows = Rows::new();
    for at in 0..page.rows() {
        let row = page.row(at).unwrap();
        let day = UtcDay::parse(row.value(0).unwrap()).unwrap();
        let key = std::array::from_fn(|index| row.value(index + 1).unwrap().to_owned());
        assert!(rows.insert((day, key), *row.sums).is_none(), "a key has several rows");
    }
    rows
}

fn add(rows: &mut Rows, day: UtcDay, key: &Key, sums: &Sums) {
    let row = rows.entry((day, key.clone())).or_default();
    row.iter_mut().zip(sums).for_each(|(to, sum)| *to += sum);
}

/// Runs `act` once without a fault and then once for each of its writes and each kind of fault, on databases made by
/// `setup`, and passes each database and result to `check`.
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
    assert!(writes > 0, "`act` writes nothing");
    check(&db, "no fault", done);
    for nth in 1..=writes {
        for fault in [Fault::Before, Fault::After] {
            let (db, done, _) = run(Faults::at(nth, fault));
            check(&db, &format!("write {nth} broken: {fault:?}"), done);
        }
    }
}

/// The database error in a failure, so that a step can be retried.
fn database_error(failure: platform::failure::Failure) -> DatabaseError {
    match failure {
        platform::failure::Failure::Internal(cause) => DatabaseError(cause),
        refused => panic!("{refused:?}"),
    }
}
