//! Deletes expired rows in the night after the first of them expired. Reads ignore expired rows until then.

use super::{audit::RETENTION_MS, rates, sql};
use crate::delivery::register;
use domain::model::time::next_night_ms;
use platform::{Database, DbResult, params};

/// Maximum rows of each kind that one alarm deletes. They take about 20 ms, during which the object answers no request.
const SLICE: i64 = 1_000;

/// Sweeps a slice of each kind. Returns the time of the next alarm, which is `now_ms` while expired rows are left. Safe
/// to repeat.
pub fn alarm<D: Database>(db: &D, now_ms: i64) -> DbResult<Option<i64>> {
    for sql in [sql::SWEEP_SESSIONS, sql::SWEEP_CHALLENGES, sql::SWEEP_INVITES] {
        db.execute(sql, params![now_ms, SLICE])?;
    }
    // A subject has at most one row for each rate, so these rows need no alarm of their own.
    db.execute(sql::SWEEP_RATES, params![now_ms.saturating_sub(rates::MAX_MS)])?;
    db.execute(sql::SWEEP_AUDIT, params![now_ms.saturating_sub(RETENTION_MS), SLICE])?;
    register::sweep(db, now_ms)?;
    let due_ms = first_expiry_ms(db)?;
    if due_ms.is_some_and(|due_ms| due_ms <= now_ms) {
        return Ok(Some(now_ms));
    }
    Ok(due_ms.map(next_night_ms))
}

/// Returns the time of the next sweep; none if the object has no rows that expire.
pub fn next_alarm<D: Database>(db: &D, _now_ms: i64) -> DbResult<Option<i64>> {
    Ok(first_expiry_ms(db)?.map(next_night_ms))
}

fn first_expiry_ms(db: &impl Database) -> DbResult<Option<i64>> {
    let Some(row) = db.query_first(sql::FIRST_DUE, &[])? else {
        return Ok(None);
    };
    let entry_ms = row.optional_integer(3)?;
    let times = [
        row.optional_integer(0)?,
        row.optional_integer(1)?,
        row.optional_integer(2)?,
        entry_ms.map(|at_ms| at_ms.saturating_add(RETENTION_MS)),
        register::sweep_due_ms(db)?,
    ];
    Ok(times.into_iter().flatten().min())
}
