//! The clicks of a publisher's day, as a ledger asks for them to restate it.

use contract::{counters::SumDay, ledger::DaySums};
use domain::model::{
    PublisherId,
    time::{DAY_MS, UtcDay},
};
use origin::objects::counters::{MIGRATIONS, log};
use platform::database::MAX_INTEGER;

use crate::{
    counters::{NOON, flush, settled, sum},
    migrated,
    sqlite::Sqlite,
};

fn ask(db: &Sqlite, after: i64, through: i64, now_ms: i64) -> DaySums {
    let sum = SumDay { publisher: PublisherId::parse("pub").unwrap(), day: UtcDay::of_ms(NOON), after, through };
    log::sums_of_day(db, now_ms, &sum).unwrap()
}

fn clicks(sums: &DaySums) -> u64 {
    sums.sums.iter().map(|sum| sum.clicks).sum()
}

#[test]
fn numbers_that_were_folded_meanwhile_are_asked_for_again() {
    let db = migrated(MIGRATIONS);
    let day = UtcDay::of_ms(NOON);
    // The day before is in the same fold, and its numbers give the ledger no reason to ask again.
    flush(&db, NOON, "i", 1, vec![sum("o", day.minus(1), 5), sum("o", day, 1)]);
    let first = log::last(&db).unwrap();
    flush(&db, NOON + 1_000, "i", 2, vec![sum("o", day, 2)]);
    let last = log::last(&db).unwrap();
    let before = ask(&db, 0, first, NOON);
    assert_eq!((clicks(&before), before.is_cut), (1, false));
    let rest = ask(&db, first, last, NOON);
    assert_eq!((clicks(&rest), rest.is_cut), (2, false));
    log::fold(&db, NOON, &settled()).unwrap();
    // After the fold, its two parts can no longer be told apart.
    assert!(ask(&db, 0, first, NOON).is_cut);
    assert!(ask(&db, first, last, NOON).is_cut);
    let all = ask(&db, 0, last, NOON);
    assert_eq!((clicks(&all), all.is_cut), (3, false));
}

#[test]
fn a_day_is_kept_for_31_days() {
    let db = migrated(MIGRATIONS);
    for (days, is_kept) in [(1, true), (30, true), (31, false)] {
        assert_eq!(ask(&db, 0, MAX_INTEGER, NOON + days * DAY_MS).is_kept, is_kept, "{days}");
    }
}
