//! What `origin/clicks` forgets: expired records, in a walk over all of them once a week. An expired record is not
//! answered in the meantime.

use super::sql;
use domain::model::time::DAY_MS;
use platform::{
    database::{Database, DatabaseError},
    params,
};

const WEEK_MS: i64 = 7 * DAY_MS;

/// Records that one alarm looks at: some 3 MB of them, tens of milliseconds in which the object answers nobody.
const SLICE: i64 = 5_000;

/// One alarm's work: the next slice of the walk. Returns when the next alarm is due: at once until the walk is through.
///
/// # Errors
/// What the database says; the work may then be done again.
pub fn alarm<D: Database>(db: &D, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
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

/// When the object has to be woken, given what it holds; none if it holds nothing.
///
/// # Errors
/// What the database says.
pub fn next_alarm<D: Database>(db: &D, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let kept = db
        .query_first(sql::ANYTHING_KEPT, &[])?
        .map_or(Ok(false), |row| row.boolean(0))?;
    Ok(kept.then_some((now_ms.div_euclid(WEEK_MS) + 1) * WEEK_MS))
}
