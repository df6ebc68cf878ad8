//! Deletes the counters' expired rows once a day, in alarms of bounded work.

use super::{log::KEPT_DAYS, sql};
use crate::delivery::batches;
use contract::counters::CapKind;
use domain::{
    conversions::log_number::first_number,
    model::{UtcDay, time::next_night_ms},
};
use platform::{Database, DbResult, params};

/// Days for which takes of clicks are kept. A take is retried within seconds, but just after midnight the retried take
/// may be yesterday's.
const CLICK_TAKES_DAYS: i32 = 2;
/// Days for which takes of conversions are kept. An outbox that got no answer retries the take, which names the day on
/// which the conversion was received.
const CONVERSION_TAKES_DAYS: i32 = 30;
/// Days for which sums are kept: the 30 days of the offers' figures, and 10 more in case an object sweeps late.
const DAILY_DAYS: i32 = 40;
/// Days for which isolates' marks are kept. An isolate that was idle for so long has ended and resends no batch.
const MARK_DAYS: i32 = 7;

/// Maximum rows that one alarm deletes of each kind of takes, of the sums and of the marks. Each deletion takes about
/// 50 ms, during which the object answers no request.
const ROWS: i64 = 10_000;
/// Maximum folds that one alarm deletes; a fold may have 2 MB.
const FOLDS: i64 = 300;

/// Returns the first day whose takes are kept, so that retries are recognized.
pub(super) fn first_day_of_takes(kind: CapKind, now_ms: i64) -> UtcDay {
    let days = match kind {
        CapKind::Click => CLICK_TAKES_DAYS,
        CapKind::Conversion => CONVERSION_TAKES_DAYS,
    };
    UtcDay::of_ms(now_ms).minus(days - 1)
}

/// Does one alarm's part of the sweep, unless this UTC day's sweep is complete. Returns the time of the next sweep:
/// `now_ms` if expired rows are left, none if the object has no rows. Safe to repeat after an error.
pub fn alarm<D: Database>(db: &D, now_ms: i64) -> DbResult<Option<i64>> {
    let today = UtcDay::of_ms(now_ms).number();
    if db.query_integer(sql::SWEPT, &[])? == Some(today) {
        return due_ms(db, now_ms);
    }
    let [clicks, conversions] =
        [CapKind::Click, CapKind::Conversion].map(|kind| first_day_of_takes(kind, now_ms).number());
    let daily = UtcDay::of_ms(now_ms).minus(DAILY_DAYS - 1).number();
    let marks = UtcDay::of_ms(now_ms).minus(MARK_DAYS).number();
    db.execute(sql::SWEEP_TAKES, params![CapKind::Click.number(), clicks, ROWS])?;
    db.execute(sql::SWEEP_TAKES, params![CapKind::Conversion.number(), conversions, ROWS])?;
    db.execute(sql::SWEEP_DAILY, params![daily, ROWS])?;
    db.execute(sql::SWEEP_UNCAPPED, params![conversions, ROWS])?;
    db.execute(sql::SWEEP_ASKED, params![conversions])?;
    db.execute(sql::SWEEP_MARKS, params![marks, ROWS])?;
    db.execute(sql::SWEEP_CAP_ALARMS, params![today])?;
    // A fold stays until all ledgers have received its clicks.
    let folds = first_number(UtcDay::of_ms(now_ms).minus(KEPT_DAYS).start_ms());
    let folds = folds.min(batches::settled_through(db)?.saturating_add(1));
    db.execute(sql::SWEEP_FOLDS, params![folds, FOLDS])?;
    if db.query_boolean(sql::MORE_TO_SWEEP, params![clicks, conversions, daily, conversions, marks, folds])? {
        return Ok(Some(now_ms));
    }
    db.execute(sql::SET_SWEPT, params![today])?;
    due_ms(db, now_ms)
}

/// Returns when the next sweep is due; none if no rows expire.
pub(super) fn due_ms(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let has_rows = db.query_boolean(sql::ANYTHING_KEPT, &[])?;
    Ok(has_rows.then(|| next_night_ms(now_ms)))
}
