//! Deletes expired click records by walking over all records once a week. Reads ignore expired records until then.

use super::sql;
use domain::model::DAY_MS;
use platform::{Database, DbResult, params};

const WEEK_MS: i64 = 7 * DAY_MS;

/// Maximum records that one alarm checks: about 3 MB. The check takes tens of milliseconds, during which the object
/// answers no request.
const SLICE: i64 = 5_000;

/// Sweeps the next slice. Returns the time of the next alarm, which is `now_ms` until the walk is complete. Safe to
/// repeat.
pub fn alarm<D: Database>(db: &D, now_ms: i64) -> DbResult<Option<i64>> {
    if let Some(slice) = db.query_first(sql::SLICE, params![SLICE])? {
        let rows = slice.integer(1)?;
        if rows > 0 {
            let last = slice.blob(0)?;
            db.execute(sql::SWEEP_SLICE, params![last.to_vec(), now_ms])?;
            if rows == SLICE {
                db.execute(sql::REACHED, params![last.to_vec()])?;
                return Ok(Some(now_ms));
            }
        }
    }
    db.execute(sql::SWEPT, &[])?;
    next_alarm(db, now_ms)
}

/// Returns the time of the next sweep; none if the object has no records.
pub fn next_alarm<D: Database>(db: &D, now_ms: i64) -> DbResult<Option<i64>> {
    let has_rows = db.query_boolean(sql::ANYTHING_KEPT, &[])?;
    Ok(has_rows.then_some((now_ms.div_euclid(WEEK_MS) + 1) * WEEK_MS))
}
