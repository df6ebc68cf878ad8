//! Facts of days that are older than `FACTS_DAYS`.

use super::*;
use domain::model::MINUTE_MS;
use origin::objects::ledger::retention;
use platform::database::Database;

const KEPT: i32 = 450;

/// A ledger with facts of 30 days, from `day(0)` on.
fn loaded(db: &Sqlite) {
    for n in 0..30 {
        let facts = [(day(n), key(0), [1; 5]), (day(n), key(1), [2; 5])];
        upload(n + 1, &facts).replace(db, 0, day(n)).unwrap();
    }
}

/// The time at which a day is the first that is kept.
fn first_kept_is(first: i64) -> i64 {
    day(first).minus(1 - KEPT).start_ms() + MINUTE_MS
}

#[test]
fn old_days_are_deleted_one_by_one_and_the_others_stay() {
    let db = ledger();
    loaded(&db);
    let all = reported(&db);
    assert_eq!(retention::due_ms(&db, KEPT), Ok(Some(first_kept_is(1))));
    retention::sweep(&db, first_kept_is(0), KEPT).unwrap();
    assert_eq!(reported(&db), all);
    let now_ms = first_kept_is(20);
    let mut sweeps = 0;
    while retention::due_ms(&db, KEPT).unwrap().is_some_and(|due_ms| due_ms <= now_ms) {
        retention::sweep(&db, now_ms, KEPT).unwrap();
        sweeps += 1;
    }
    assert_eq!(sweeps, 20);
    let kept = reported_between(&db, day(20), day(90));
    assert_eq!(reported(&db), kept);
    assert_eq!(kept.len(), 20);
    let columns = db.query("SELECT COUNT(*) FROM columns", &[]).unwrap()[0].integer(0).unwrap();
    for _ in 0..10 {
        retention::sweep(&db, first_kept_is(90), KEPT).unwrap();
    }
    assert_eq!(db.query("SELECT COUNT(*) FROM columns", &[]).unwrap()[0].integer(0), Ok(0));
    assert!(columns > 0);
    assert_eq!(retention::due_ms(&db, KEPT), Ok(None));
}

#[test]
fn a_failed_write_leaves_each_day_whole_or_gone() {
    for nth in 1.. {
        let db = ledger();
        loaded(&db);
        db.inject(Faults::at(nth, Fault::Before));
        let swept = retention::sweep(&db, first_kept_is(4), KEPT);
        let left = reported(&db).len();
        assert!(left >= 52 && left.is_multiple_of(2), "{nth}: {left}");
        if swept.is_ok() {
            assert!(nth > 4);
            break;
        }
    }
}

#[test]
fn the_setting_has_a_range() {
    for (text, days) in [(None, Some(800)), (Some("450"), Some(450)), (Some("3650"), Some(3_650))] {
        assert_eq!(retention::facts_days(text).ok(), days, "{text:?}");
    }
    for wrong in ["449", "3651", "-1", "1e3", ""] {
        assert!(retention::facts_days(Some(wrong)).unwrap_err().contains("FACTS_DAYS"), "{wrong}");
    }
}
