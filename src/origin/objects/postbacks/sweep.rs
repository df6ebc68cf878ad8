//! Retention: deletes postbacks and tokens' last uses after 90 days. Receivers' answers are kept equally long.

use super::sql;
use domain::model::{DAY_MS, time::next_night_ms};
use platform::{Database, DbResult, params};

pub const RETENTION_MS: i64 = 90 * DAY_MS;

/// Deletes expired rows. Returns when the next sweep is due. Safe to repeat.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let first_ms = now_ms.saturating_sub(RETENTION_MS);
    db.execute(sql::SWEEP, params![first_ms])?;
    db.execute(sql::SWEEP_TOKENS, params![first_ms])?;
    next_alarm(db, now_ms)
}

/// Returns the time of the next sweep; none if there are no rows.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let has_rows = db.query_boolean(sql::ANYTHING_KEPT, &[])?;
    Ok(has_rows.then(|| next_night_ms(now_ms)))
}
