//! What the counters forget, once a day, in alarms of bounded work.

use super::sql;
use contract::counters::CapKind;
use domain::model::time::{DAY_MS, UtcDay, next_night_ms};
use platform::{
    database::{Database, DatabaseError},
    params,
};

/// A click is asked about again within seconds; yesterday's may come just after midnight.
const CLICK_TAKES_DAYS: i32 = 2;
/// A conversion is taken on the day of its receipt, and an outbox that cannot reach the counters goes on asking.
const CONVERSION_TAKES_DAYS: i32 = 30;
/// The 30 days of the offers' figures, and room for an object that sweeps late.
const DAILY_DAYS: i32 = 40;
/// An isolate silent for this long is gone, and no repeat of its batches will come.
const MARK_MS: i64 = 7 * DAY_MS;

// A day's count must outlive the day's takes: without it the cap would begin anew.
const _: () = assert!(DAILY_DAYS > CONVERSION_TAKES_DAYS && DAILY_DAYS > CLICK_TAKES_DAYS);

/// Takes of a kind, and marks, that one alarm deletes: some 50 ms of an object's time, in which it answers nobody. Of
/// `daily` there is a row for each of the object's offers a day, a few hundred.
const ROWS: i64 = 10_000;

/// The first day of which takes are kept, and so can be told from repeats.
pub(super) fn first_day_of_takes(kind: CapKind, now_ms: i64) -> UtcDay {
    let days = match kind {
        CapKind::Click => CLICK_TAKES_DAYS,
        CapKind::Conversion => CONVERSION_TAKES_DAYS,
    };
    UtcDay::of_ms(now_ms).minus(days - 1)
}

/// One alarm's work. Returns when the next sweep is due: at once if this one left something to delete, never if nothing
/// is kept.
///
/// # Errors
/// What the database says; the work may then be done again.
pub fn alarm<D: Database>(db: &D, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let [clicks, conversions] =
        [CapKind::Click, CapKind::Conversion].map(|kind| first_day_of_takes(kind, now_ms).number());
    let daily = UtcDay::of_ms(now_ms).minus(DAILY_DAYS - 1).number();
    let marks = now_ms.saturating_sub(MARK_MS);
    db.execute(sql::SWEEP_TAKES, params![CapKind::Click.number(), clicks, ROWS])?;
    db.execute(
        sql::SWEEP_TAKES,
        params![CapKind::Conversion.number(), conversions, ROWS],
    )?;
    db.execute(sql::SWEEP_DAILY, params![daily])?;
    db.execute(sql::SWEEP_MARKS, params![marks, ROWS])?;
    let more = db.query_first(sql::MORE_TO_SWEEP, params![clicks, conversions, daily, marks])?;
    if more.map_or(Ok(false), |row| row.boolean(0))? {
        Ok(Some(now_ms))
    } else {
        due_ms(db, now_ms)
    }
}

/// When the next sweep is due, given what the object holds; never if it holds nothing that ends.
///
/// # Errors
/// What the database says.
pub(super) fn due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let kept = db
        .query_first(sql::ANYTHING_KEPT, &[])?
        .map_or(Ok(false), |row| row.boolean(0))?;
    Ok(kept.then(|| next_night_ms(now_ms)))
}
